import { describe, expect, it } from 'vitest';
import { isSettled } from '../../support/deferred.ts';
import { openCircuit } from '../../support/openCircuit.ts';
import { fault, type Started, startIntegration } from '../../support/startIntegration.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';

const once: PolicyInput = { retry: { maxAttempts: 1 } };

describe('the circuit of an integration', () => {
  it('[M-4] opens on the fifth failure in a row, not on the fourth', async () => {
    const started = startIntegration();
    const { integration, seen } = started;
    for (let index = 0; index < 5; index++) {
      expect(integration.state).not.toBe('open');
      const outcome = integration.call('fails', { maxAttempts: 1 });
      seen.at(-1)?.reject(fault('transient'));
      await outcome;
    }
    expect(integration.state).toBe('open');
  });

  it('[M-4] counts every attempt, not every call', async () => {
    const { integration, clock } = startIntegration({}, () => Promise.reject(fault('transient')));
    void integration.call('first');
    await clock.advance(7000);
    void integration.call('second');
    await clock.settle();
    expect(integration.state).toBe('open');
  });

  it('[M-4] forgets the streak at a success, and at a prompt answer that is an error', async () => {
    const answers = [...Array.from({ length: 4 }, () => fault('transient')), fault('permanent', { outcome: 'failed' })];
    let next = 0;
    const { integration } = startIntegration(once, () => Promise.reject(answers[next++ % 5]));
    for (let index = 0; index < 20; index++) await integration.call('ask');
    expect(integration.breaker.state).toBe('closed');
  });

  it('[M-4] opens when half of at least 20 attempts within the window have failed', async () => {
    let next = 0;
    const { integration } = startIntegration(once, () =>
      next++ % 2 === 0 ? 'fine' : Promise.reject(fault('transient')),
    );
    for (let index = 0; index < 19; index++) await integration.call('ask');
    expect(integration.breaker.state).toBe('closed');
    await integration.call('the twentieth');
    expect(integration.breaker.state).toBe('open');
  });

  it('[M-4] forgets failures that are older than its window', async () => {
    let next = 0;
    const { integration, clock } = startIntegration(once, () =>
      next++ % 2 === 0 ? 'fine' : Promise.reject(fault('transient')),
    );
    for (let index = 0; index < 19; index++) await integration.call('ask');
    await clock.advance(3_600_000);
    await integration.call('the twentieth');
    expect(integration.breaker.state).toBe('closed');
  });

  it('[M-2] refuses calls at once while open, with the time of the next probe and without a stack', async () => {
    const started = startIntegration();
    await openCircuit(started);
    await started.clock.advance(10_000);
    const outcome = await started.integration.call('refused');
    expect(outcome).toMatchObject({ failure: { kind: 'circuit_open', attempts: 0, retryAfterMs: 50_000 } });
    expect(outcome).not.toHaveProperty('failure.stack');
    expect(started.seen).toHaveLength(5);
  });

  it('[M-2] [M-12] is probed by the first call after the reset timeout, with no timer running until then', async () => {
    const started = startIntegration();
    const { integration, clock, seen } = started;
    await openCircuit(started);
    for (const attempt of seen) attempt.resolve('ended');
    await clock.settle();
    expect(clock.pending).toBe(0);
    clock.stall(59_999);
    void integration.call('too early');
    expect(seen).toHaveLength(5);
    clock.stall(1);
    void integration.call('probe');
    expect(integration.state).toBe('half-open');
    expect(seen).toHaveLength(6);
  });

  it('[M-12] is not moved by steps of the wall clock', async () => {
    const started = startIntegration();
    await openCircuit(started);
    started.clock.stepWall(86_400_000);
    expect(await started.integration.call('refused')).toMatchObject({ failure: { kind: 'circuit_open' } });
  });

  it('[M-2] stays open until the latest of its reset timeout and an upstream hint', async () => {
    const { integration, clock } = startIntegration(once, () =>
      Promise.reject(fault('quota', { outcome: 'failed', retryAfterMs: 600_000 })),
    );
    await integration.call('ask');
    expect(integration.state).toBe('open');
    await clock.advance(599_999);
    expect(await integration.call('refused')).toMatchObject({ failure: { kind: 'circuit_open', retryAfterMs: 1 } });
  });

  it('[M-4] doubles its open time up to a cap where configured', async () => {
    const started = startIntegration({ breaker: { openFactor: 2, maxOpenMs: 150_000 } });
    const { integration, clock, facts, seen } = started;
    await openCircuit(started);
    for (const waitMs of [60_000, 120_000, 150_000]) {
      await clock.advance(waitMs);
      const probe = integration.call('probe', { maxAttempts: 1 });
      seen.at(-1)?.reject(fault('transient'));
      await probe;
    }
    expect(facts.of('breaker.opened').map(({ openForMs }) => openForMs)).toEqual([60_000, 120_000, 150_000, 150_000]);
  });

  it('[M-5] ends calls that wait in backoff, keeping their last failure and their attempts', async () => {
    const started = startIntegration();
    const waiting = started.integration.call('waits');
    started.attempt(0).reject(fault('overloaded'));
    await started.clock.settle();
    await openCircuit(started);
    expect(await waiting).toMatchObject({
      failure: { kind: 'circuit_open', attempts: 1, cause: { kind: 'overloaded' } },
    });
  });

  it('[M-5] reports the failure of a last attempt, not the circuit it opened', async () => {
    const { integration, clock } = startIntegration({ breaker: { consecutiveFailures: 4 } }, () =>
      Promise.reject(fault('transient')),
    );
    const outcome = integration.call('ask');
    await clock.advance(7000);
    expect(integration.state).toBe('open');
    expect(await outcome).toMatchObject({ failure: { kind: 'transient', attempts: 4 } });
  });
});

describe('a probe', () => {
  async function halfOpen(
    policy: PolicyInput = {},
    extra: Parameters<typeof startIntegration>[2] = {},
  ): Promise<Started> {
    const started = startIntegration(policy, undefined, extra);
    await openCircuit(started);
    await started.clock.advance(60_000);
    return started;
  }

  it('[M-3] is alone: of 1,000 callers one runs, the others are refused at once', async () => {
    const { integration, seen } = await halfOpen();
    const outcomes = Array.from({ length: 1000 }, () => integration.call('ask'));
    expect(seen).toHaveLength(6);
    expect(await Promise.all(outcomes.slice(1))).toSatisfy((all: { failure: { kind: string } }[]) =>
      all.every(({ failure }) => failure.kind === 'circuit_open'),
    );
  });

  it('[M-3] closes the circuit and resets the counters when it succeeds', async () => {
    const { integration, seen } = await halfOpen();
    const probe = integration.call('probe');
    seen.at(-1)?.resolve('alive');
    await probe;
    expect(integration.state).toBe('idle');
    for (let index = 0; index < 4; index++) {
      const outcome = integration.call('fails', { maxAttempts: 1 });
      seen.at(-1)?.reject(fault('transient'));
      await outcome;
    }
    expect(integration.breaker.state).toBe('closed');
  });

  it('[M-3] closes the circuit when it is answered with an error that proves life', async () => {
    const { integration, seen } = await halfOpen();
    const probe = integration.call('probe');
    seen.at(-1)?.reject(fault('auth', { outcome: 'failed' }));
    expect(await probe).toMatchObject({ failure: { kind: 'auth' } });
    expect(integration.state).toBe('idle');
  });

  it('[M-3] opens the circuit again when it fails', async () => {
    const { integration, seen } = await halfOpen();
    const probe = integration.call('probe', { maxAttempts: 1 });
    seen.at(-1)?.reject(fault('transient'));
    await probe;
    expect(integration.state).toBe('open');
  });

  it('[M-3] frees its permit and changes nothing when it is ignored', async () => {
    const { integration, seen } = await halfOpen();
    const controller = new AbortController();
    const probe = integration.call('probe', { signal: controller.signal });
    controller.abort();
    await probe;
    expect(integration.state).toBe('half-open');
    void integration.call('next probe');
    expect(seen).toHaveLength(7);
  });

  it('[M-3] that never settles is aborted at its lease, counts as a failure and frees its permit', async () => {
    const { integration, clock, attempt } = await halfOpen({ limits: { idleMs: Infinity, attemptMs: 20_000 } });
    const probe = integration.call('hangs', { maxAttempts: 1, attemptMs: 600_000 });
    await clock.advance(24_999);
    expect(await isSettled(probe)).toBe(false);
    await clock.advance(1);
    expect(await probe).toMatchObject({ failure: { kind: 'timeout', reason: 'lease_expired' } });
    expect(attempt(5).context.signal.aborted).toBe(true);
    expect(integration.state).toBe('open');
  });

  it('[M-3] has all its time where calls have no limit, and says when to ask again', async () => {
    const limits = { idleMs: Infinity, attemptMs: Infinity, overallMs: Infinity };
    const { integration, clock, attempt } = await halfOpen({ limits });
    const probe = integration.call('slow');
    const refused = await integration.call('other');
    expect(refused).toMatchObject({ failure: { kind: 'circuit_open', retryAfterMs: 65_000 } });
    await clock.advance(3_600_000);
    expect(await isSettled(probe)).toBe(false);
    attempt(5).resolve('done');
    expect(await probe).toMatchObject({ ok: true });
    expect(integration.breaker.state).toBe('closed');
  });

  it('[M-3] has the overall limit and the grace where attempts have no limit', async () => {
    const limits = { idleMs: Infinity, attemptMs: Infinity, overallMs: 600_000 };
    const { integration, clock, attempt } = await halfOpen({ limits });
    const probe = integration.call('hangs', { overallMs: 900_000 });
    await clock.advance(604_999);
    expect(await isSettled(probe)).toBe(false);
    await clock.advance(1);
    expect(await probe).toMatchObject({ failure: { kind: 'timeout', reason: 'lease_expired' } });
    expect(attempt(5).context.signal.aborted).toBe(true);
  });

  it('[M-3] admits as many at once as configured', async () => {
    const { integration, seen } = await halfOpen({ breaker: { probes: 3 } });
    for (let index = 0; index < 10; index++) void integration.call('ask');
    expect(seen).toHaveLength(8);
  });

  it('[M-3] is harmless where it can be: a call that may have effects waits for it', async () => {
    let pings = 0;
    const { integration, clock, seen } = await halfOpen({}, { probe: async () => void pings++ });
    const paying = integration.call('pay', { effect: 'mutating' });
    expect([pings, seen.length]).toEqual([1, 5]);
    await clock.settle();
    expect(seen).toHaveLength(6);
    seen.at(-1)?.resolve('paid');
    expect(await paying).toEqual({ ok: true, value: 'paid' });
  });

  it('[M-3] that is harmless and fails refuses those who waited for it', async () => {
    const { integration, clock, seen } = await halfOpen({}, { probe: () => Promise.reject(fault('transient')) });
    const paying = integration.call('pay');
    await clock.settle();
    expect(await paying).toMatchObject({ failure: { kind: 'circuit_open', attempts: 0 } });
    expect(seen).toHaveLength(5);
  });

  it('[M-11] is not disturbed by an attempt admitted before the circuit opened', async () => {
    const started = startIntegration();
    const slow = started.integration.call('slow');
    await openCircuit(started);
    await started.clock.advance(20_000);
    void slow;
    await started.clock.advance(40_000);
    void started.integration.call('probe');
    started.attempt(0).resolve('late success');
    await started.clock.settle();
    expect(started.integration.state).toBe('half-open');
  });

  it('[M-8] is asked for elsewhere when the circuit is shared', async () => {
    const { integration, seen } = await halfOpen({}, { claimProbe: () => false });
    expect(await integration.call('ask')).toMatchObject({ failure: { kind: 'circuit_open' } });
    expect(seen).toHaveLength(5);
  });
});

describe('the state of an integration', () => {
  it('[M-1] is idle, calling and backoff by what its calls do, at the end of every turn', async () => {
    const { integration, clock, ref, attempt } = startIntegration();
    expect(ref.getSnapshot().value).toBe('idle');
    void integration.call('ask');
    await clock.settle();
    expect(ref.getSnapshot().value).toBe('calling');
    attempt(0).reject(fault('transient'));
    await clock.settle();
    expect(ref.getSnapshot().value).toBe('backoff');
    await clock.advance(1000);
    expect(ref.getSnapshot().value).toBe('calling');
    attempt(1).resolve('answer');
    await clock.settle();
    expect(ref.getSnapshot().value).toBe('idle');
  });

  it('[M-1] is up to date for who reads it within a turn', async () => {
    const { integration, attempt } = startIntegration();
    const outcome = integration.call('ask');
    attempt(0).resolve('answer');
    await outcome;
    expect(integration.state).toBe('idle');
  });

  it('[M-10] costs the machine no event for a success while others are in flight', async () => {
    const { integration, clock, ref, attempt } = startIntegration();
    void integration.call('stays');
    await clock.settle();
    let events = 0;
    ref.subscribe(() => events++);
    const outcome = integration.call('comes and goes');
    attempt(1).resolve('answer');
    await outcome;
    await clock.settle();
    expect(events).toBe(0);
  });
});

describe('a call whose circuit opens with its attempt', () => {
  const breaker = { consecutiveFailures: 1 };

  it('[M-5] ends as circuit_open with its last failure, also when the wait for its next attempt would not fit', async () => {
    const { integration, attempt } = startIntegration({ breaker, retry: { maxAttempts: 4 } });
    const outcome = integration.call('ask', { overallMs: 500 });
    attempt(0).reject(fault('transient'));
    expect(await outcome).toMatchObject({
      failure: { kind: 'circuit_open', attempts: 1, retryAfterMs: 60_000, cause: { kind: 'transient' } },
    });
  });

  it('[M-5] reports the failure itself when it was its last attempt', async () => {
    const { integration, attempt } = startIntegration({ breaker, retry: { maxAttempts: 1 } });
    const outcome = integration.call('ask', { overallMs: 500 });
    attempt(0).reject(fault('transient'));
    expect(await outcome).toMatchObject({ failure: { kind: 'transient', attempts: 1 } });
  });
});

describe('an isolated circuit', () => {
  it('[M-8] refuses all calls until the last of its holders releases it', async () => {
    const { integration, clock } = startIntegration({}, () => 'fine');
    const releases = [integration.breaker.isolate(), integration.breaker.isolate()];
    releases[0]?.();
    releases[0]?.();
    await clock.advance(3_600_000);
    expect(integration.breaker.state).toBe('isolated');
    expect(await integration.call('ask')).toMatchObject({ failure: { kind: 'circuit_open', reason: 'isolated' } });
    releases[1]?.();
    expect(await integration.call('ask')).toEqual({ ok: true, value: 'fine' });
  });

  it('[M-8] is left by a reset, and a release that comes after it does nothing', async () => {
    const { integration } = startIntegration({}, () => 'fine');
    const release = integration.breaker.isolate();
    integration.breaker.reset();
    expect(integration.breaker.state).toBe('closed');
    integration.breaker.isolate();
    release();
    expect(integration.breaker.state).toBe('isolated');
  });

  it('[M-8] goes back to open when it was open before', async () => {
    const started = startIntegration();
    await openCircuit(started);
    started.integration.breaker.isolate()();
    expect(started.integration.breaker.state).toBe('open');
  });

  it('[M-8] keeps the time at which it may be tried from before: a release neither shortens nor begins it anew', async () => {
    const started = startIntegration();
    const { integration, clock, seen } = started;
    await openCircuit(started);
    const release = integration.breaker.isolate();
    await clock.advance(20_000);
    release();
    expect(await integration.call('early')).toMatchObject({ failure: { kind: 'circuit_open', retryAfterMs: 40_000 } });
    const again = integration.breaker.isolate();
    await clock.advance(50_000);
    again();
    expect(integration.breaker.state).toBe('open');
    const before = seen.length;
    void integration.call('probe');
    expect([integration.breaker.state, seen.length]).toEqual(['half-open', before + 1]);
  });

  it('[M-8] [M-11] is not left by an attempt that succeeds after all', async () => {
    const { integration, clock, attempt } = startIntegration();
    void integration.call('slow');
    integration.breaker.isolate();
    attempt(0).resolve('answer');
    await clock.settle();
    expect(integration.breaker.state).toBe('isolated');
  });

  it('[M-8] survives a crash of what is behind it', () => {
    const { integration, path } = startIntegration();
    integration.breaker.isolate();
    path.crashed(fault('crash').facts);
    path.restarted();
    expect(integration.breaker.state).toBe('isolated');
  });
});
