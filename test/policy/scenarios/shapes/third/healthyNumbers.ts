import { healthy, ok, times } from '../build.ts';
import type { Shape } from '../shape.ts';
import { base62, clock, hex, iso, moment, num, seconds } from './make.ts';

/** A declared read that moves in one thing only. */
const moves = (name: string, tool: string, input: unknown, text: (index: number) => string, count = 40): Shape =>
  healthy(
    name,
    times(count, (k) => ok(tool, input, text(k))),
    { tools: { [tool]: { effect: 'readOnly' } } },
  );

/** Declared reads of something that moves: numbers, hashes and clocks, near to what is taken out. */
export const healthyNumbers: readonly Shape[] = [
  moves('a branch that gets commits', 'git__rev_parse', { ref: 'origin/main' }, (k) => hex(k, 40)),
  moves('a branch that gets commits, shortened', 'git__log', { n: 1 }, (k) => `${hex(k, 7)} wip`),
  moves('a checksum of a file that is written', 'fs__sha256', { path: 'a.bin' }, (k) => `${hex(k, 64)}  a.bin`),
  moves(
    'an ETag of a page that is deployed',
    'http__head',
    { url: 'https://a.example' },
    (k) => `HTTP/1.1 200 OK\nETag: W/"${hex(k, 8)}"\nDate: ${moment(k).toUTCString()}`,
  ),
  moves('a score', 'sport__score', { game: 1 }, (k) => `Home ${k}:${k + 1} Away`),
  moves(
    'processor time in millicores',
    'k8s__top',
    { pod: 'web' },
    (k) => `NAME   CPU(cores)   MEMORY(bytes)\nweb    ${200 + k}m         128Mi`,
  ),
  moves('a robot that walks', 'robot__distance', {}, (k) => `distance to wall: ${(9 - k / 10).toFixed(1)} m`),
  moves('pods that get ready', 'k8s__deploy', { name: 'web' }, (k) => `web   ${k}/40   ${num(k, 1, 59)}s`),
  moves(
    'restarts that grow',
    'k8s__pods',
    {},
    (k) => `web-1   0/1   CrashLoopBackOff   ${k} (${num(k, 3, 59)}s ago)   12m`,
  ),
  moves('a build that goes on', 'ci__run', { id: 4 }, (k) => `Step ${k + 1}/41 : RUN make (${seconds(k)}s)`),
  moves('a percentage', 'db__progress', {}, (k) => `${(k * 2.5).toFixed(1)}% done, ETA ${num(k, 1, 59)}m`),
  moves('a queue that shrinks', 'queue__depth', { name: 'mail' }, (k) => `${iso(k)} depth=${340 - k}`),
  moves(
    'a file that grows',
    'fs__stat',
    { path: 'out.log' },
    (k) => `-rw-r--r-- 1 root root ${4096 + k * 17} Nov 30 ${clock(k).slice(0, 5)} out.log`,
  ),
  moves('lines of a log', 'logs__tail', { unit: 'app', lines: 1 }, (k) => `${iso(k)} INFO imported item ${k}`),
  moves(
    'a price',
    'market__price',
    { of: 'x' },
    (k) => `{"price":${(101 + k / 4).toFixed(2)},"ts":${moment(k).getTime()}}`,
  ),
  moves('memory of a host', 'host__free', {}, (k) => `Mem: 24105 ${7242 - k * 9} ${12_618 + k * 9}`),
  moves('a disk', 'host__df', {}, (k) => `/dev/vda 100G ${50 + k}G ${50 - k}G ${50 + k}% /`),
  moves(
    'a load',
    'host__uptime',
    {},
    (k) => ` ${clock(k)} up  5:20,  0 user,  load average: ${17 - k / 5}, 17.59, 15.80`,
  ),
  moves('a clock of seconds', 'time__epoch', {}, (k) => String(Math.floor(moment(k).getTime() / 1000))),
  moves('a clock of a server of MCP', 'get_current_time', { timezone: 'Europe/Berlin' }, (k) => iso(k)),
  moves('a clock in words', 'time__now', {}, (k) =>
    moment(k).toLocaleString('en-US', { timeZone: 'UTC', dateStyle: 'full', timeStyle: 'long' }),
  ),
  moves('a temperature', 'sensor__read', { id: 1 }, (k) => `${(18 + k / 10).toFixed(1)} °C`),
  moves('an address that moves', 'cloud__ip', { vm: 'a' }, (k) => `10.0.0.${k}:8080`),
  moves('a release', 'npm__view', { name: 'x' }, (k) => `1.${k}.0`),
  moves(
    'events of an issue',
    'sentry__issue',
    { id: 'A' },
    (k) => `events: ${1200 + k}, last seen ${num(k, 2, 59)} seconds ago`,
  ),
  moves('a cart', 'browser_snapshot', {}, (k) => `- heading "Cart (${k})" [ref=e12]`),
  moves('processes without a name', 'host__pgrep', { name: 'worker' }, (k) => `${3000 + k}\n${3001 + k}`),
  moves(
    'a channel',
    'slack__history',
    { channel: 'c', limit: 1 },
    (k) => `${moment(k).getTime()} ann: ${base62(k, 8)} is done`,
  ),
  moves('a ratio', 'tests__state', {}, (k) => `passed ${k} of 40 in ${seconds(k)}s`),
  moves('a height', 'game__state', {}, (k) => `{"x":${k},"y":4,"attempts":1}`),
];
