import { failed, healthy, ok, times } from './build.ts';
import type { Shape, ShapeStep } from './shape.ts';
import { clock, iso, pid } from './volatile.ts';

const refused = failed(
  'Bash',
  { command: 'curl -sS http://localhost:3000/health' },
  'Exit code 7\ncurl: (7) Failed to connect to localhost port 3000 after 0 ms: Connection refused',
);
const up = ok('Bash', { command: 'curl -sS http://localhost:3000/health' }, '{"ok":true}');

const comesUp = (index: number): readonly ShapeStep[] => [
  ok(
    'Edit',
    { file_path: '/repo/src/server.ts', old_string: `limit = ${index}`, new_string: `limit = ${index + 1}` },
    'The file /repo/src/server.ts has been updated.',
  ),
  ok('Bash', { command: 'npm run dev', run_in_background: true }, `Command running in background with ID: b${index}`),
  ...times(11, () => refused),
  up,
];

/** Servers that are not there yet, and come. */
export const healthyServers: readonly Shape[] = [
  healthy('a server that answers after seventeen refusals', [...times(17, () => refused), up]),
  healthy('a server that is built and started anew six times, eleven refusals each', times(6, comesUp)),
  healthy('a server that comes up before and after a restart', [
    ...times(16, () => refused),
    up,
    'restart',
    ...times(16, () => refused),
    up,
    'compaction',
    ...times(16, () => refused),
    up,
  ]),
  healthy(
    'a database that is down for a while, with its logs read between',
    times(19, (index) => [
      failed('query', { sql: 'SELECT 1' }, 'FATAL: the database system is starting up', { kind: 'transient' }),
      ok(
        'docker_logs',
        { container: 'db' },
        `${iso(index * 4)} [${pid(index)}] LOG: redo in progress, ${index * 5} % done`,
      ),
    ]),
    { tools: { query: { effect: 'readOnly' }, docker_logs: { effect: 'readOnly' } } },
  ),
  healthy('a port that is searched for upwards', [
    ...times(14, (index) =>
      failed('start_server', { port: 3000 + index }, `listen EADDRINUSE: address already in use :::${3000 + index}`),
    ),
    ok('start_server', { port: 3014 }, 'listening on 3014'),
  ]),
  healthy(
    'a health check that passes, now and then, all day',
    times(100, (index) => [
      ok('Bash', { command: 'curl -s localhost:3000/health' }, `{"ok":true,"time":"${iso(index * 60)}"}`),
    ]),
  ),
  healthy('three servers that are probed in turn until all answer', [
    ...times(15, (index) =>
      [3001, 3002, 3003].map((port) =>
        failed('probe', { port }, `connect ECONNREFUSED 127.0.0.1:${port} at ${clock(index * 3)}`, {
          kind: 'transient',
        }),
      ),
    ),
    ...[3001, 3002, 3003].map((port) => ok('probe', { port }, 'up')),
  ]),
];
