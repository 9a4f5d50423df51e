import { describe, expect, it } from 'vitest';
import { DeadlineQueue } from '../../../src/calls/deadlineQueue.ts';
import { whyOf } from '../../../src/calls/callWhy.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { isSettled } from '../../support/deferred.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const limits = { idleMs: 4000, attemptMs: 6000, overallMs: 60_000 };
/** One failure opens the circuit. */
const strict = { limits, retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1 } };

describe('calls in flight while our own event loop stands still', () => {
  it('[G-6] go on: ten calls of three steps of 100 ms, a limit of 4 s, a stall of 5 s', async () => {
    const started = startIntegration(strict, async () => {
      for (let step = 0; step < 3; step++)
        await new Promise<void>((resolve) => void started.clock.setTimeout(resolve, 100));
      return 'found';
    });
    const { integration, clock } = started;
    const calls = Promise.all(Array.from({ length: 10 }, () => integration.call('ask')));
    await clock.advance(100);
    clock.stall(5000);
    await clock.advance(200);
    expect(await calls).toEqual(Array.from({ length: 10 }, () => ({ ok: true, value: 'found' })));
    expect(integration.breaker.state).toBe('closed');
  });

  it.each([
    ['idle_timeout', { idleMs: 4000 }, 4000],
    ['attempt_timeout', { idleMs: 60_000 }, 6000],
  ] as const)('[G-6] have the whole of their limit in time in which it ran: %s', async (reason, given, limitMs) => {
    const { integration, clock } = startIntegration({ ...strict, limits: { ...limits, ...given } });
    const outcome = integration.call('hangs');
    await clock.advance(1000);
    clock.stall(7000);
    await clock.advance(1000);
    clock.stall(300);
    await clock.advance(limitMs - 2001);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { reason } });
    expect(clock.now()).toBe(limitMs + 7300);
  });

  it('[G-6] are not charged with a stall that was over before they began', async () => {
    const { integration, clock } = startIntegration(strict);
    void integration.call('keeps it watched');
    await clock.advance(1);
    clock.stall(9000);
    await clock.advance(2000);
    const outcome = integration.call('hangs');
    await clock.advance(4000);
    expect(await outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
  });

  it('[G-6] [I-1] end at their overall deadline all the same, and no breaker counts that', async () => {
    const { integration, clock } = startIntegration(strict);
    const outcome = integration.call('hangs');
    await clock.advance(1000);
    clock.stall(59_000);
    await clock.advance(0);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'overall_timeout' } });
    expect(integration.breaker.state).toBe('closed');
  });

  it('[G-6] count for no breaker when their limit passes in the wake of it', async () => {
    const { integration, clock } = startIntegration(strict);
    const outcome = integration.call('hangs');
    await clock.advance(1000);
    clock.stall(1000);
    await clock.advance(3000);
    expect(await outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
    expect(integration.breaker.state).toBe('closed');
  });

  it('[G-6] count after a stall of less than a second', async () => {
    const { integration, clock } = startIntegration(strict);
    void integration.call('hangs');
    await clock.advance(1000);
    clock.stall(999);
    await clock.advance(3000);
    expect(integration.breaker.state).toBe('open');
  });

  it.each(['transient', 'crash', 'unknown'] as const)(
    '[G-6] count for no breaker when the other side gave up their connection meanwhile: %s',
    async (kind) => {
      const { integration, clock, attempt } = startIntegration(strict);
      const outcome = integration.call('ask');
      clock.stall(5000);
      attempt(0).reject(fault(kind));
      expect(await outcome).toMatchObject({ failure: { kind } });
      expect(integration.breaker.state).toBe('closed');
    },
  );

  it('[G-6] count when the other side answered with an error', async () => {
    const { integration, clock, attempt } = startIntegration(strict);
    void integration.call('ask');
    clock.stall(5000);
    attempt(0).reject(fault('transient', { status: 503 }));
    await clock.settle();
    expect(integration.breaker.state).toBe('open');
  });

  it.each([
    [999, 'closed'],
    [1000, 'open'],
  ] as const)(
    '[G-6] leaves its wake after a second: a call made %i ms after it finds a connection lost, the circuit is %s',
    async (afterMs, state) => {
      const { integration, clock, attempt } = startIntegration(strict);
      clock.stall(5000);
      await clock.advance(afterMs);
      void integration.call('ask');
      attempt(0).reject(fault('transient'));
      await clock.settle();
      expect(integration.breaker.state).toBe(state);
    },
  );

  it.each([fault('unknown'), fault('transient', { outcome: 'not_started' })])(
    '[G-6] count when they began after it and failed of anything but a connection that was lost: $facts',
    async (thrown) => {
      const { integration, clock, attempt } = startIntegration(strict);
      clock.stall(5000);
      void integration.call('ask');
      attempt(0).reject(thrown);
      await clock.settle();
      expect(integration.breaker.state).toBe('open');
    },
  );

  it('[G-6] leaves work that was told to end its whole grace', async () => {
    const { integration, clock, facts } = startIntegration(strict);
    void integration.call('hangs', { overallMs: 500 });
    await clock.advance(500);
    clock.stall(20_000);
    await clock.advance(4999);
    expect(facts.of('call.abandoned')).toEqual([]);
    await clock.advance(1);
    expect(facts.of('call.abandoned')).toHaveLength(1);
  });

  it('[G-6] [L-5] says for how long a call may still be silent', async () => {
    const { path, clock, integration } = startIntegration(strict);
    const call = path.start(
      'hangs',
      { ...integration.policy.limits, ...settings(integration.policy.retry) },
      () => undefined,
    );
    await clock.advance(1000);
    clock.stall(7000);
    expect(whyOf(call, clock)).toMatchObject({ next: { rule: 'idle_timeout', inMs: 3000 } });
  });
});

const settings = <R>(retry: R) => ({
  retry,
  effect: undefined,
  label: undefined,
  session: undefined,
  signal: undefined,
  fallback: undefined,
});

describe('the queue of deadlines', () => {
  const deadline = (due: number) => ({ due, heapIndex: -1, expire: () => undefined });

  it('[G-6] has stalls of a second or more told while something is due, and no others', async () => {
    const clock = new SimulatedClock();
    const told: number[] = [];
    const queue = new DeadlineQueue(clock, (stalledMs) => told.push(stalledMs));
    clock.stall(5000);
    expect(told).toEqual([]);
    const only = deadline(clock.now() + 60_000);
    queue.set(only);
    clock.stall(999);
    clock.stall(1000);
    expect(told).toEqual([1000]);
    queue.remove(only);
    await clock.settle();
    clock.stall(5000);
    expect(told).toEqual([1000]);
  });

  it('[G-6] [O-3] count towards no alert when they fail in its wake, and do when they fail without one', async () => {
    const { integration, clock, facts } = startIntegration(strict);
    const outcome = integration.call('hangs');
    await clock.advance(1000);
    clock.stall(60_000);
    await clock.advance(30);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', breaker: 'ignored', alerts: false } });
    expect(facts.of('call.failed')).toMatchObject([{ failure: { alerts: false } }]);
    await clock.advance(2000);
    void integration.call('hangs too');
    await clock.advance(60_000);
    expect(facts.of('call.failed')[1]?.failure.alerts).toBeUndefined();
  });
});
