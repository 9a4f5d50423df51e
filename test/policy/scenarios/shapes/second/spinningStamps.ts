import { failed, ok, spinning } from '../build.ts';
import type { ShapeFailureKind, SpinningShape } from '../shape.ts';
import { at, chance, hex, iso, otherWork, reads } from './make.ts';

const pad = (number: number, digits = 2): string => String(number).padStart(digits, '0');
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Parts of the time of a round, as programs print it. */
function parts(round: number) {
  const time = at(round);
  return {
    year: time.getUTCFullYear(),
    month: pad(time.getUTCMonth() + 1),
    name: months[time.getUTCMonth()] ?? '',
    day: pad(time.getUTCDate()),
    clock: iso(round).slice(11, 19),
    hour: time.getUTCHours(),
    minute: time.getUTCMinutes(),
    second: time.getUTCSeconds(),
    millis: pad(chance(round, 1_000), 3),
    micros: pad(chance(round, 1_000_000), 6),
  };
}

type Stamp = (now: ReturnType<typeof parts>, round: number) => string;

const fails = (name: string, tool: string, input: unknown, message: Stamp, kind: ShapeFailureKind = 'tool_error') =>
  spinning(name, (round) => failed(tool, input, message(parts(round), round), { kind }));

const answers = (name: string, tool: string, input: unknown, text: Stamp) =>
  spinning(name, (round) => ok(tool, input, text(parts(round), round)), reads(tool));

export const spinningStamps: readonly SpinningShape[] = [
  fails('kubelet: a glog line', 'kubectl', { args: ['logs', 'web-0'] }, (now) => {
    return `E${now.month}${now.day} ${now.clock}.${now.micros}   12345 main.go:42] cannot reach the api server`;
  }),
  fails('syslog: a line with its process', 'systemctl', { args: ['restart', 'cups'] }, (now, round) => {
    return `${now.name} ${now.day} ${now.clock} host7 cupsd[${4_000 + chance(round, 900)}]: unable to bind socket`;
  }),
  fails('log4j: milliseconds after a comma', 'gradle', { task: 'run' }, (now) => {
    return `${iso(0).slice(0, 10)} ${now.clock},${now.millis} [main] ERROR shop.Main - no such bean: mailer`;
  }),
  fails('postgres: a zone and a process', 'pg_restore', { file: 'shop.dump' }, (now, round) => {
    return `2026-11-30 ${now.clock}.${now.millis} UTC [${chance(round, 9_000) + 100}] ERROR:  role "shop" does not exist`;
  }),
  fails('redis: process, role and day', 'redis', { command: 'START' }, (now, round) => {
    return `${chance(round, 9_000) + 100}:M 30 Nov 2026 ${now.clock}.${now.millis} # Failed to open the append only file`;
  }),
  fails('apache: microseconds, process and thread', 'apachectl', { args: ['graceful'] }, (now, round) => {
    return (
      `[Mon Nov 30 ${now.clock}.${now.micros} 2026] [core:error] [pid ${chance(round, 9_000)}:tid ` +
      `${chance(round + 7, 90_000)}] AH00132: file permissions deny server access`
    );
  }),
  answers('nginx: an access log with one line', 'tail_log', { file: 'access.log', lines: 1 }, (now) => {
    return `10.0.0.7 - - [30/Nov/2026:${now.clock} +0000] "GET /healthz HTTP/1.1" 503 190`;
  }),
  answers('http: a date header', 'http_head', { url: 'https://shop.example/' }, (now, round) => {
    return `HTTP/1.1 503 Service Unavailable\r\nDate: ${at(round).toUTCString()}\r\nServer: nginx\r\nContent-Length: 0`;
  }),
  fails('windows: a date with am and pm', 'powershell', { script: 'Start-Service Spooler' }, (now) => {
    return `11/30/2026 ${now.hour % 12 || 12}:${pad(now.minute)}:${pad(now.second)} AM: Cannot open service 'Spooler'`;
  }),
  fails('german: day and hour in words', 'sende_mail', { an: 'kasse@example.org' }, (now) => {
    return `Am 30. November 2026 um ${now.hour}:${pad(now.minute)} Uhr: Postfach existiert nicht`;
  }),
  fails('japanese: year, month, day, hour, minute', 'yoyaku', { heya: '桜' }, (now) => {
    return `2026年11月30日 ${now.hour}時${now.minute}分${now.second}秒 予約に失敗しました：部屋が存在しません`;
  }),
  fails('milliseconds since 1970 in front', 'mqtt_publish', { topic: 'lamp/1' }, (now, round) => {
    return `${at(round).getTime() + chance(round, 900)} publish failed: broker refused the topic`;
  }),
  fails('seconds since 1970 with a fraction', 'dnf', { args: ['install', 'jq'] }, (now, round) => {
    return `[${Math.floor(at(round).getTime() / 1_000)}.${now.micros}] No match for argument: jq`;
  }),
  answers('the kernel: seconds since the start', 'dmesg', { lines: 1 }, (now, round) => {
    return `[${12_345 + round * 37}.${now.micros}] usb 1-1: device descriptor read/64, error -71`;
  }),
  answers('an old date of .net in JSON', 'get_order', { order: 7 }, (now, round) => {
    return `{"order":7,"state":"open","readAt":"\\/Date(${at(round).getTime()})\\/"}`;
  }),
  answers('nanoseconds and an offset', 'describe_job', { job: 'nightly' }, (now) => {
    return `{"job":"nightly","state":"queued","observed":{"at":"2026-11-30T${now.clock}.${now.micros}123+05:30"}}`;
  }),
  answers('pods: only the age moves', 'pods', { namespace: 'shop' }, (now, round) => {
    const seconds = 323 + round * 37;
    return `NAME    READY   STATUS    RESTARTS   AGE\nweb-0   0/1     Pending   0          ${Math.floor(seconds / 60)}m${seconds % 60}s`;
  }),
  spinning(
    'a log of 15 kB: each line has its time and its process',
    (round) =>
      ok(
        'journal',
        { unit: 'web', lines: 150 },
        Array.from({ length: 150 }, (_, line) => {
          const time = iso(round * 300 + line);
          return `${time} web[${chance(round, 9_000) + 100}]: GET /item/${line} 502 upstream gone, request_id=${hex(round * 300 + line, 16)}`;
        }).join('\n'),
      ),
    { ...reads('journal'), between: 3, other: otherWork, breaks: { 4: 'restart', 8: 'compaction' } },
  ),
];
