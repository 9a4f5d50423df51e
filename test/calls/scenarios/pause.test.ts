import { describe, expect, it } from 'vitest';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import { isSettled } from '../../support/deferred.ts';
import { openCircuit, pauseByProbe } from '../../support/openCircuit.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const once: PolicyInput = { retry: { maxAttempts: 1 } };

describe('an integration that is paused', () => {
  it('[M-13] keeps the last failure of a call that cannot wait for the end of its pause', async () => {
    const { integration, clock, attempt, seen } = startIntegration();
    const waiting = integration.call('ask', { idleMs: 100, effect: 'idempotent', overallMs: 5000 });
    void integration.call('throttled', { maxAttempts: 1 });
    await clock.advance(100);
    attempt(1).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.advance(1000);
    expect(await waiting).toMatchObject({
      failure: { kind: 'rate_limit', attempts: 1, outcome: 'unknown', cause: { kind: 'timeout' } },
    });
    expect(seen).toHaveLength(2);
  });

  it('[R-7] tells its caller when to come back in whole ms, never too early', async () => {
    const { integration, attempt } = startIntegration();
    const throttled = integration.call('throttled', { maxAttempts: 1 });
    attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 113.2 }));
    expect(await throttled).toMatchObject({ failure: { kind: 'rate_limit', retryAfterMs: 114 } });
  });

  it('[M-9] refuses nobody after the pause whom it had wait for its end', async () => {
    const { integration, clock, attempt, seen } = startIntegration({ maxInFlight: 1 });
    void integration.call('throttled', { maxAttempts: 1 });
    attempt(0).reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    const waits = [integration.call('first'), integration.call('second')];
    await clock.advance(20_000);
    expect(await Promise.all(waits.map(isSettled))).toEqual([false, false]);
    seen.at(-1)?.resolve('answer');
    await clock.settle();
    expect(seen.map(({ input }) => input)).toEqual(['throttled', 'first', 'second']);
  });

  it('[M-13] by the answer to a probe is not probed again before its hint', async () => {
    const started = startIntegration();
    const { integration, clock, seen } = started;
    await openCircuit(started);
    await clock.advance(60_000);
    const probe = integration.call('probe', { maxAttempts: 1 });
    seen.at(-1)?.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await probe;
    expect(await integration.call('too early')).toMatchObject({
      failure: { kind: 'circuit_open', retryAfterMs: 20_000 },
    });
    await clock.advance(20_000);
    void integration.call('next probe');
    expect(seen).toHaveLength(7);
  });

  it('[M-13] [O-9] by the answer to a probe says so in each refusal, not what opened the circuit before', async () => {
    const started = startIntegration();
    const { integration } = started;
    const probe = await pauseByProbe(started);
    const message = 'The circuit of kb is open: its server asked not to be called for now; next try in 20 s';
    expect(probe).toMatchObject({ failure: { kind: 'circuit_open', message, cause: { kind: 'rate_limit' } } });
    expect(await integration.call('too early')).toMatchObject({ failure: { kind: 'circuit_open', message } });
  });

  it('[M-13] says so once for a hint that adds nothing', async () => {
    const { integration, clock, facts, seen } = startIntegration(once);
    for (let index = 0; index < 10; index++) void integration.call('ask');
    for (const attempt of seen) attempt.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 20_000 }));
    await clock.settle();
    expect(facts.of('integration.paused')).toHaveLength(1);
  });

  it('[M-13] takes a hint above its cap for a quota, also from an error that names its own kind', async () => {
    const { integration } = startIntegration(once, () =>
      Promise.reject(fault('rate_limit', { outcome: 'failed', retryAfterMs: 3_600_000 })),
    );
    expect(await integration.call('ask')).toMatchObject({ failure: { kind: 'quota' } });
    expect(await integration.call('refused')).toMatchObject({
      failure: { kind: 'circuit_open', retryAfterMs: 3_600_000 },
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('[M-13] takes a hint of %d for none', async (retryAfterMs) => {
    const { integration, clock } = startIntegration(once, () =>
      Promise.reject(fault('quota', { outcome: 'failed', retryAfterMs })),
    );
    await integration.call('ask');
    await clock.advance(60_000);
    expect(await integration.call('ask')).toMatchObject({ failure: { kind: 'quota' } });
  });
});
