import { failed, healthy, ok, times } from './build.ts';
import type { Shape } from './shape.ts';
import { clock, iso, millis } from './volatile.ts';

/** Tools that are declared to be polled or to be repeated. */
export const healthyDeclared: readonly Shape[] = [
  healthy(
    'a declared poll with sixty equal answers',
    times(60, () => ok('job_status', { job: 'nightly' }, 'no new output')),
    { tools: { job_status: { effect: 'readOnly', poll: true } } },
  ),
  healthy(
    'a declared poll without an effect, with times in its answer',
    times(110, (index) => ok('inbox', {}, `No new messages (checked ${clock(index * 20)})`)),
    { tools: { inbox: { poll: true } } },
  ),
  healthy(
    'a declared poll that fails alike until the port is open',
    [
      ...times(60, () =>
        failed('probe_port', { port: 5432 }, 'connect ECONNREFUSED 127.0.0.1:5432', { kind: 'transient' }),
      ),
      ok('probe_port', { port: 5432 }, 'open'),
    ],
    { tools: { probe_port: { effect: 'readOnly', poll: true } } },
  ),
  healthy(
    'two declared polls in turn',
    times(50, (index) => [
      ok('build_status', { id: 41 }, 'IN_PROGRESS'),
      ok('deploy_status', { id: 42 }, `{"state":"waiting","requestId":"req_${millis(index)}"}`),
    ]),
    { tools: { build_status: { effect: 'readOnly', poll: true }, deploy_status: { effect: 'readOnly', poll: true } } },
  ),
  healthy(
    'a declared poll through a restart and two compactions',
    times(90, (index) => [
      ...(index === 30 || index === 70 ? (['compaction'] as const) : []),
      ...(index === 50 ? (['restart'] as const) : []),
      ok('watch_branch', { branch: 'main' }, `unchanged at ${iso(index * 30)}`),
    ]),
    { tools: { watch_branch: { effect: 'readOnly', poll: true } } },
  ),
  healthy(
    'a tool of allowed repeats that fails alike sixty times',
    times(60, () => failed('claim_slot', { office: 'Berlin' }, 'No slot is free.')),
    { tools: { claim_slot: { effect: 'mutating', repeats: 'allowed' } } },
  ),
  healthy(
    'a read of allowed repeats that answers alike',
    times(70, () => ok('read_sensor', { id: 'door' }, 'closed')),
    { tools: { read_sensor: { effect: 'readOnly', repeats: 'allowed' } } },
  ),
  healthy(
    'a fuzzer of allowed repeats with varying inputs and one failure',
    times(100, (index) =>
      failed('fuzz', { seed: index * 7919 }, 'rejected: malformed header', { kind: 'invalid', tookMs: 12 }),
    ),
    { tools: { fuzz: { repeats: 'allowed' } } },
  ),
  healthy(
    'an idempotent heartbeat that is told it is well',
    times(80, () => ok('heartbeat', { node: 'n1' }, 'ok')),
    { tools: { heartbeat: { effect: 'idempotent' } } },
  ),
  healthy(
    'a mutating tool that appends the same line sixty times',
    times(60, () => ok('append_row', { sheet: 'log', row: ['x'] }, 'Row appended.')),
    { tools: { append_row: { effect: 'mutating' } } },
  ),
];
