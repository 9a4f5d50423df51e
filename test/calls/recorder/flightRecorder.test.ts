import { describe, expect, it } from 'vitest';
import type { CallPathOptions } from '../../../src/calls/callPathOptions.ts';
import { FlightRecorder } from '../../../src/calls/recorder/flightRecorder.ts';
import type { Flight, FlightRow } from '../../../src/policy/records/flight.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const wallStart = Date.UTC(2026, 0, 1);

function startRecorded(policy: PolicyInput = {}, extra: Partial<CallPathOptions<string, string>> = {}) {
  const recorder = new FlightRecorder(resolvePolicy('kb', policy));
  const started = startIntegration(policy, undefined, { recorder, ...extra });
  const take = (): Flight => {
    const flight = started.path.takeFlight(wallStart);
    if (flight === undefined) throw new Error('Expected a flight');
    return flight;
  };
  return { ...started, recorder, take, rows: () => take().rows.filter(({ what }) => what !== 'input') };
}

const once = { retry: { maxAttempts: 1 } };

describe('a flight recorder', () => {
  it('[O-16] holds an attempt that was answered with its times and its tool', async () => {
    const { integration, clock, attempt, rows } = startRecorded(once, { toolOf: () => 'read' });
    await clock.advance(100);
    const call = integration.call('one');
    await clock.advance(40);
    attempt(0).resolve('answer');
    await call;
    const [arrivedAt, endedAt] = [wallStart + 100, wallStart + 140];
    const times = { arrivedAt, startedAt: arrivedAt, endedAt };
    expect(rows()).toEqual([{ what: 'attempt', call: 1, attempt: 1, end: 'answered', tool: 'read', ...times }]);
  });

  it('[O-16] holds a failed attempt with its reason, the wait after it and what chance drew, then the next', async () => {
    const policy = { retry: { maxAttempts: 2, backoff: { initialMs: 100, maxMs: 1000 } } };
    const { integration, clock, attempt, rows } = startRecorded(policy);
    const call = integration.call('one', { effect: 'readOnly' });
    attempt(0).reject(fault('overloaded', { retryAfterMs: 70 }));
    await clock.advance(200);
    attempt(1).resolve('answer');
    await call;
    expect(rows()).toMatchObject([
      {
        attempt: 1,
        end: 'threw',
        failure: { kind: 'overloaded', message: 'overloaded fault', retryAfterMs: 70 },
        delayMs: 100,
        draw: 0.5,
        effect: 'readOnly',
      },
      { attempt: 2, end: 'answered' },
    ]);
  });

  it('[O-16] says how each attempt ended: by a limit, with its server, or by its caller', async () => {
    const { integration, clock, path, rows } = startRecorded({ ...once, limits: { attemptMs: 50, idleMs: 1000 } });
    void integration.call('limit');
    await clock.advance(50);
    const controller = new AbortController();
    void integration.call('caller', { signal: controller.signal });
    await clock.advance(10);
    controller.abort();
    void integration.call('server');
    await clock.advance(10);
    path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    await clock.settle();
    const attempts = rows().filter((row) => row.what === 'attempt');
    expect(attempts.map(({ call, end, failure }) => [call, end, failure?.kind])).toEqual([
      [1, 'limit', 'timeout'],
      [2, 'ended', 'cancelled'],
      [3, 'lost', 'crash'],
    ]);
  });

  it('[O-16] holds the end of a call that fails, is refused or falls back, and when the work of a lost attempt ended', async () => {
    const { integration, clock, attempt, rows } = startRecorded({ ...once, limits: { attemptMs: 50, idleMs: 1000 } });
    void integration.call('late');
    await clock.advance(50);
    attempt(0).resolve('too late');
    await clock.settle();
    void integration.call('fallback', { fallback: () => 'other' });
    attempt(1).reject(fault('transient'));
    await clock.settle();
    integration.breaker.isolate();
    void integration.call('refused');
    await clock.settle();
    const told = rows().map((row) =>
      row.what === 'end' ? [row.what, row.call, row.end] : [row.what, 'call' in row && row.call],
    );
    expect(told).toEqual([
      ['attempt', 1],
      ['end', 1, 'failed'],
      ['work', 1],
      ['attempt', 2],
      ['end', 2, 'fell_back'],
      ['end', 3, 'refused'],
    ]);
  });

  it('[O-16] holds what befell the integration from outside, in order', async () => {
    const { path, take } = startRecorded(once);
    path.crashed({ kind: 'crash', message: 'gone', outcome: 'unknown' });
    path.restarted();
    path.reset();
    path.restart();
    path.stop();
    const inputs = take().rows.flatMap((row) => (row.what === 'input' ? [row.input] : []));
    expect(inputs).toEqual(['attached', 'crashed', 'restarted', 'reset', 'restart', 'stopped']);
  });

  it('[O-16] tells of calls under way what they wait for', async () => {
    const { integration, clock, rows } = startRecorded({ ...once, maxInFlight: 1, queueLength: 5 });
    void integration.call('first', { label: 'slow', overallMs: 5000 });
    void integration.call('second');
    await clock.advance(10);
    const pending = rows();
    expect(pending).toMatchObject([
      { what: 'pending', call: 1, attempt: 1, label: 'slow', waitsFor: 'in_flight', startedAt: wallStart },
      { what: 'pending', call: 2, attempt: 0, waitsFor: 'permit', at: wallStart + 10 },
    ]);
    expect(rows()).toHaveLength(2);
  });

  it('[O-16] gives limits and retries that are not those of the policy a place', async () => {
    const { integration, clock, attempt, take } = startRecorded(once);
    void integration.call('one', { overallMs: 7000 });
    void integration.call('two', { overallMs: 7000, maxAttempts: 3 });
    attempt(0).resolve('');
    attempt(1).resolve('');
    await clock.settle();
    const { rows, limits, retries } = take();
    const [one, two] = rows.filter((row): row is Extract<FlightRow, { what: 'attempt' }> => row.what === 'attempt');
    expect(limits[one?.limits ?? -1]?.overallMs).toBe(7000);
    expect([two?.limits, one?.retry, retries[two?.retry ?? -1]?.maxAttempts]).toEqual([one?.limits, undefined, 3]);
  });

  it('[O-16] keeps the last 1024 answered attempts and 512 failures, and says how many are missing', async () => {
    const { integration, clock, take } = startRecorded(
      { ...once, breaker: { consecutiveFailures: 1e6, failureRatio: 1 } },
      {
        operation: async (input) => {
          if (input === 'fail') throw fault('permanent');
          return input;
        },
      },
    );
    for (let call = 0; call < 1030; call++) await integration.call('ok');
    for (let call = 0; call < 300; call++) await integration.call('fail');
    await clock.settle();
    const { rows, missed } = take();
    const answered = rows.filter((row) => row.what === 'attempt' && row.end === 'answered');
    const failed = rows.filter((row) => row.what === 'attempt' && row.end === 'threw');
    // Of a failed call two rows are held: its attempt and its end.
    expect([answered.length, failed.length, missed]).toEqual([1024, 256, 6 + 88]);
    expect(answered[0]).toMatchObject({ call: 7 });
    expect(take()).toMatchObject({ rows: [], missed: 0 });
  });

  it('[O-16] holds on to nothing of a caller: no signal, no fallback, no error', async () => {
    const { integration, clock, attempt, take } = startRecorded(once);
    const cause = new Error('thrown');
    void integration.call('one', { signal: new AbortController().signal, fallback: () => 'other' });
    attempt(0).reject(fault('transient', { cause }));
    await clock.settle();
    expect(JSON.stringify(take())).not.toMatch(/cause|signal|thrown/);
  });

  it('leaves out calls that are parts of others', async () => {
    const { path, clock, attempt, rows } = startRecorded(once);
    const { policy } = path;
    const settings = { ...policy.limits, retry: policy.retry, effect: undefined, label: undefined, session: undefined };
    path.start('part', { ...settings, signal: undefined, fallback: undefined, isPart: true }, () => undefined);
    attempt(0).reject(fault('transient'));
    await clock.settle();
    expect(rows()).toEqual([]);
  });
});
