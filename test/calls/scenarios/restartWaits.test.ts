import { describe, expect, it } from 'vitest';
import { whyOf } from '../../../src/calls/callWhy.ts';
import { RetryBudget } from '../../../src/policy/retryBudget.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { deferred, isSettled } from '../../support/deferred.ts';
import { fault, type Seen, startIntegration } from '../../support/startIntegration.ts';

const noOptions = { label: undefined, session: undefined, signal: undefined, fallback: undefined };
const gone = fault('crash', { reason: 'connection_lost', message: 'The server was ended by SIGKILL' }).facts;

describe('a call that is to be repeated after a crash', () => {
  it('[M-6] waits 20 s for the restart, and ends with what it was lost by', async () => {
    const { integration, path, clock } = startIntegration({ extends: 'mcp' }, undefined, { restartInMs: () => 4000 });
    const outcome = integration.call('read', { effect: 'readOnly' });
    path.crashed(gone);
    await clock.advance(19_999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({
      failure: {
        kind: 'crash',
        reason: 'connection_lost',
        outcome: 'unknown',
        attempts: 1,
        retryAfterMs: 4000,
        message: 'The server was ended by SIGKILL; it was not back within 20s',
      },
    });
  });

  it('[M-6] is repeated when the restart comes in time', async () => {
    const { integration, path, clock, seen } = startIntegration();
    const outcome = integration.call('read', { effect: 'readOnly' });
    path.crashed(gone);
    await clock.advance(19_999);
    path.restarted();
    seen[1]?.resolve('found');
    expect(await outcome).toEqual({ ok: true, value: 'found' });
  });

  it('[M-6] waits so long in all, however often it crashes, but not for the time in which it ran', async () => {
    const { integration, path, clock, seen } = startIntegration();
    const outcome = integration.call('read', { effect: 'readOnly' });
    path.crashed(gone);
    await clock.advance(15_000);
    path.restarted();
    await clock.advance(60_000);
    expect(seen).toHaveLength(2);
    path.crashed(gone);
    await clock.advance(4999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'crash', attempts: 2 } });
  });

  it('[M-6] never waits past its deadline', async () => {
    const { integration, path, clock } = startIntegration();
    const outcome = integration.call('read', { effect: 'readOnly', overallMs: 3000 });
    path.crashed(gone);
    await clock.advance(3000);
    expect(await outcome).toMatchObject({ failure: { kind: 'crash', attempts: 1 } });
  });

  it('[M-6] waits as long when it finds out at its next attempt', async () => {
    const { integration, path, clock, seen } = startIntegration({ repeatWaitMs: 300 });
    const outcome = integration.call('read', { effect: 'readOnly' });
    seen[0]?.reject(fault('transient'));
    await clock.settle();
    path.crashed(gone);
    await clock.advance(1299);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'transient', attempts: 1 } });
  });
});

describe('why a call waits for a restart', () => {
  it('[L-5] [M-6] is told with the time at which it is given up', async () => {
    const { path, clock } = startIntegration();
    const settings = { ...path.policy.limits, ...noOptions, retry: path.policy.retry, effect: 'readOnly' } as const;
    const call = path.start('read', settings, () => undefined);
    path.crashed(gone);
    await clock.advance(5000);
    expect(whyOf(call, clock)).toMatchObject({ phase: 'restart', next: { rule: 'restart_wait', inMs: 15_000 } });
  });
});

describe('a new call while the integration is away', () => {
  it('[M-6] waits 5 s, then it is told when the restart comes', async () => {
    const { integration, path, clock } = startIntegration({}, undefined, { restartInMs: () => 4000 });
    path.crashed(gone);
    const outcome = integration.call('read');
    await clock.advance(4999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'unavailable', attempts: 0, retryAfterMs: 4000 } });
  });

  it('[M-6] waits no longer when it had waited for a permit before', async () => {
    const { integration, path, clock } = startIntegration({ maxInFlight: 1, queueLength: 1 });
    void integration.call('first');
    const outcome = integration.call('queued');
    path.crashed(gone);
    await clock.advance(5000);
    expect(await outcome).toMatchObject({ failure: { kind: 'unavailable', attempts: 0 } });
  });
});

describe('the calls that a crash took with it', () => {
  const room = { maxInFlight: 200, breaker: { consecutiveFailures: 1000 } };

  /** Attempts wait for the test, and their work ends when it is told to, as that of a server which died does. */
  function startServer(policy: PolicyInput, extra: Parameters<typeof startIntegration>[2] = {}) {
    const seen: Pick<Seen, 'input' | 'resolve' | 'reject'>[] = [];
    const started = startIntegration(
      policy,
      (input, { signal }) => {
        const { promise, resolve, reject } = deferred<string>();
        seen.push({ input, resolve, reject });
        signal.addEventListener('abort', () => reject(signal.reason));
        return promise;
      },
      extra,
    );
    return {
      ...started,
      seen,
      async crashAndRestart(between = (): void => undefined) {
        started.path.crashed(gone);
        await started.clock.settle();
        between();
        started.path.restarted();
      },
    };
  }

  it('[R-4] are all repeated, once, and draw nothing from the budget', async () => {
    const { integration, crashAndRestart, clock, seen } = startServer(room);
    const calls = Array.from({ length: 200 }, (_, index) => integration.call(`read ${index}`, { effect: 'readOnly' }));
    await crashAndRestart();
    await clock.advance(1000);
    expect(integration.stats).toMatchObject({ retryTokens: 100, waiting: 0, attempts: 200 });
    const inputs = (some: typeof seen) => some.map(({ input }) => input).toSorted();
    expect(inputs(seen.slice(200))).toEqual(inputs(seen.slice(0, 200)));
    for (const attempt of seen.slice(200)) attempt.resolve('found');
    expect(await Promise.all(calls)).toEqual(calls.map(() => ({ ok: true, value: 'found' })));
    expect(integration.stats.retryTokens).toBe(100);
  });

  it('[R-4] are repeated 50 at once, and 50 more each 100 ms', async () => {
    const { integration, crashAndRestart, clock, seen } = startServer(room);
    for (let index = 0; index < 120; index++) void integration.call(`read ${index}`, { effect: 'readOnly' });
    await crashAndRestart();
    await clock.settle();
    expect(seen).toHaveLength(170);
    await clock.advance(99);
    expect(seen).toHaveLength(170);
    await clock.advance(1);
    expect(seen).toHaveLength(220);
    await clock.advance(100);
    expect(seen).toHaveLength(240);
  });

  it('[R-4] go on before those that came later', async () => {
    const { integration, crashAndRestart, clock, seen } = startServer({ maxInFlight: 1, queueLength: 2 });
    void integration.call('first', { effect: 'readOnly' });
    void integration.call('second', { effect: 'readOnly' });
    await crashAndRestart(() => void integration.call('third', { effect: 'readOnly' }));
    expect(seen.map(({ input }) => input)).toEqual(['first', 'first']);
    seen[1]?.resolve('found');
    await clock.settle();
    expect(seen[2]?.input).toBe('second');
  });

  it('[R-4] keep no lone call from its retries, and give back only what they drew', async () => {
    const retryBudget = new RetryBudget({ capacity: 10, cost: 5 });
    const { integration, crashAndRestart, clock, seen } = startServer(room, { retryBudget });
    for (let index = 0; index < 5; index++) void integration.call('crashed', { effect: 'readOnly' });
    await crashAndRestart();
    for (let round = 0; round < 3; round++) {
      const lone = integration.call('lone');
      seen.at(-1)?.reject(fault('transient', { outcome: 'failed' }));
      await clock.settle();
      expect(await isSettled(lone)).toBe(false);
      await clock.advance(1000);
      seen.at(-1)?.reject(fault('permanent', { outcome: 'failed' }));
      await lone;
    }
    expect(integration.stats.retryTokens).toBe(0);
    for (const attempt of seen.slice(5, 10)) attempt.resolve('found');
    await clock.settle();
    expect(integration.stats.retryTokens).toBe(0);
  });
});
