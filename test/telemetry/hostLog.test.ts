import { describe, expect, it } from 'vitest';
import type { Fact } from '../../src/policy/facts/facts.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { logToHost } from '../../src/telemetry/hostLog.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

/** What a host is told of a fact. */
function lineOf(fact: Fact): string {
  const clock = new SimulatedClock();
  const bus = createBus({ clock });
  const said: string[] = [];
  const line =
    (level: string) =>
    (text: string): void =>
      void said.push(`${level} ${text}`);
  logToHost(bus, clock, { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') });
  bus.tell(fact);
  return said.join('\n');
}

const resumed = {
  type: 'session.resumed',
  session: 'desk',
  waiting: 2,
  lostCalls: 0,
  openCalls: 0,
  deadLetters: 0,
} as const;

const lost: Fact = {
  ...{ type: 'session.tool_failed', session: 'desk', turn: 1, call: 'c-1', tool: 'charge', integration: 'bank' },
  ...{
    kind: 'crash',
    retries: 0,
    synthetic: true,
    outcome: 'unknown',
    effect: 'mutating',
    lost: true,
    message: 'ended',
  },
};
const opened = {
  kind: 'circuit_open',
  message: 'open',
  outcome: 'failed',
  integration: 'kb',
  retryable: true,
  cause: { kind: 'transient', message: 'down' },
} as const;
const ended = { type: 'call.failed', integration: 'kb', call: 'kb-1', retryCount: 0, elapsedMs: 1 } as const;
const pending = {
  type: 'call.pending',
  integration: 'kb',
  call: 'desk-1-1',
  label: 'search',
  attempt: 1,
  waitsFor: 'in_flight',
  elapsedMs: 15_000,
  silentMs: 15_000,
  rule: 'idle_timeout',
  nextInMs: 15_000,
} as const;

describe('what a host is told', () => {
  it.each<[string, Fact, string]>([
    [
      'of a dead letter',
      { type: 'session.dead_letter', session: 'desk', message: 'desk-m1', reason: 'poison' },
      'warn The message desk-m1 of the session desk is not delivered any more (poison); unwedge letters shows it',
    ],
    ['of messages that merely waited: nothing', resumed, ''],
    [
      'of a lost answer',
      lost,
      'warn The call charge of bank in the session desk lost its answer as its process ended: it may have taken effect',
    ],
    [
      'of a lost answer that changes nothing',
      { ...lost, effect: 'readOnly' },
      'info The call charge of bank in the session desk lost its answer as its process ended: it only reads',
    ],
    ['of a call that failed: it tells of itself', { ...lost, lost: undefined }, ''],
    [
      'of a session that no gateway has',
      { type: 'session.unclaimed', session: 'desk', sessions: 1 },
      'warn The session desk has messages or calls to go on with, and no gateway. Declare what goes on: gateway.session(id, …) or gateway.adoptSessions(…)',
    ],
    [
      'of several sessions that no gateway has',
      { type: 'session.unclaimed', session: 'desk', sessions: 3 },
      'warn 3 sessions, such as desk, have messages or calls to go on with, and no gateway. Declare what goes on: gateway.session(id, …) or gateway.adoptSessions(…)',
    ],
    [
      'of calls that are asked about',
      { ...resumed, waiting: 1, lostCalls: 2, openCalls: 3 },
      'warn The session desk goes on where an earlier process ended: it is asked what became of 3 calls, 1 message to deliver',
    ],
    [
      'of a call that its circuit ended: it failed',
      { ...ended, failure: { ...opened, attempts: 1 } },
      'warn A call of kb failed (circuit_open, 1 attempt): open',
    ],
    [
      'of a call that met nothing by which it counts',
      { ...ended, failure: { ...opened, attempts: 1, cause: undefined } },
      'info A call of kb failed (circuit_open, 1 attempt): open',
    ],
    [
      'of a call that hangs: which it is, and of which session',
      { ...pending, session: 'desk' },
      'warn The call search of kb (desk-1-1 of session desk) is pending for 15s, silent for 15s; idle_timeout in 15s',
    ],
    [
      'of a call that hangs and is of no session',
      pending,
      'warn The call search of kb (desk-1-1) is pending for 15s, silent for 15s; idle_timeout in 15s',
    ],
    [
      'of a call that hangs while its server may live',
      { ...pending, rule: 'attempt_timeout', nextInMs: 285_000, pingInMs: 15_000 },
      'warn The call search of kb (desk-1-1) is pending for 15s, silent for 15s; its server is pinged in 15s, attempt_timeout in 4m45s',
    ],
    [
      'of a quarantine that a person ends',
      { type: 'child.quarantined', child: 'mcp:kb', restarts: 1, error: 'exit code 127' },
      'error mcp:kb is in quarantine after 1 restart: exit code 127',
    ],
    [
      'of a quarantine that ends by itself',
      { type: 'child.quarantined', child: 'mcp:kb', restarts: 5, error: 'exit code 1', nextRestartInMs: 90_000 },
      'error mcp:kb is in quarantine after 5 restarts, for 1m30s: exit code 1',
    ],
    [
      'of a restart that an operator ordered, with who and why',
      { type: 'operator.restarted', integration: 'kb', what: 'server', calls: 2, by: 'kim (pid 7)', why: 'it hangs' },
      'info An operator restarted kb, with 2 calls in flight (kim (pid 7)): it hangs',
    ],
    [
      'of a session that an operator restarted',
      { type: 'operator.restarted', session: 'desk', what: 'session', calls: 0 },
      'info An operator restarted the session desk',
    ],
    [
      'of a circuit that an operator holds open',
      { type: 'operator.isolated', integration: 'kb', by: 'kim' },
      'info An operator isolated kb (kim)',
    ],
    [
      'of a circuit that an operator closed',
      { type: 'operator.reset', integration: 'kb', why: 'mended' },
      'info An operator reset the circuit of kb: mended',
    ],
    [
      'of a probe that an operator asked for',
      { type: 'operator.probed', integration: 'kb', tool: 'search', how: 'next_call' },
      'info An operator asked for a probe of the tool search of kb',
    ],
    [
      'of a rule that an operator had act',
      { type: 'operator.fired', session: 'desk', turn: 3, rule: 'turn_timeout', what: 'turn', inMs: 5 },
      'info An operator had turn_timeout of the session desk act at once',
    ],
    [
      'of retries that an operator stopped',
      { type: 'operator.retries_stopped', session: 'desk', call: 'desk-1-1', integration: 'kb', tool: 'x', attempt: 1 },
      'info An operator stopped the retries of desk-1-1 of the session desk',
    ],
    [
      'of a turn that an operator ended',
      { type: 'operator.cancelled', session: 'desk', turn: 3 },
      'info An operator ended turn 3 of the session desk',
    ],
    [
      'of a dead letter that an operator sent again',
      { type: 'operator.sent_again', session: 'desk', message: 'desk#1', as: 'desk#4' },
      'info An operator sent the dead letter desk#1 of the session desk again, as desk#4',
    ],
    [
      'of a dead letter that an operator dropped',
      { type: 'operator.dropped', session: 'desk', message: 'desk#1' },
      'info An operator dropped the dead letter desk#1 of the session desk',
    ],
  ])('[O-11] [I-4] %s', (_, fact, line) => {
    expect(lineOf(fact)).toBe(line);
  });

  it('[O-11] [R-8] of a process that stood still for five seconds or more', () => {
    expect(lineOf({ type: 'runtime.stalled', stalledMs: 4999 })).toBe('');
    expect(lineOf({ type: 'runtime.stalled', stalledMs: 30_000 })).toBe(
      'warn The event loop of this process stood still for 30s: nothing went on meanwhile, and no limit on silence counts it',
    );
  });
});
