import { describe, expect, it } from 'vitest';
import { RetryBudget } from '../../../src/policy/retryBudget.ts';
import { isSettled } from '../../support/deferred.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

describe('the retry budget', () => {
  it('[R-4] never blocks a lone call that is retried, whoever waits for a first attempt', async () => {
    const { integration, clock, seen } = startIntegration({
      maxInFlight: 25,
      queueLength: 5,
      breaker: { consecutiveFailures: 1000, minimumAttempts: 1000, windowSize: 1000 },
    });
    for (let index = 0; index < 25; index++) void integration.call('uses it up', { maxAttempts: 2 });
    for (const attempt of [...seen]) attempt.reject(fault('transient'));
    await clock.settle();
    await clock.advance(1000);
    for (const attempt of seen.slice(25)) attempt.reject(fault('transient'));
    await clock.settle();
    expect(integration.stats.retryTokens).toBe(0);
    const before = seen.length;
    const lone = integration.call('lone');
    for (let index = 0; index < 24; index++) void integration.call('runs');
    for (let index = 0; index < 5; index++) void integration.call('waits for a permit');
    seen[before]?.reject(fault('transient'));
    await clock.settle();
    expect(await isSettled(lone)).toBe(false);
  });

  it('[R-4] never blocks a lone call, however often it was retried, and whatever calls were before it', async () => {
    const { integration, clock } = startIntegration(
      { maxAttempts: 4, breaker: { consecutiveFailures: 1000 } },
      () => Promise.reject(fault('transient', { outcome: 'failed' })),
      { retryBudget: new RetryBudget({ capacity: 1, cost: 5 }) },
    );
    for (let round = 0; round < 3; round++) {
      const lone = integration.call('lone');
      await clock.advance(60_000);
      expect(await lone).toMatchObject({ failure: { attempts: 4 } });
    }
  });

  it('[R-4] lets one of several calls go on when it is used up', async () => {
    const { integration, clock } = startIntegration(
      { maxAttempts: 2, breaker: { consecutiveFailures: 1000 } },
      () => Promise.reject(fault('transient', { outcome: 'failed' })),
      { retryBudget: new RetryBudget({ capacity: 1, cost: 5 }) },
    );
    for (let round = 0; round < 2; round++) {
      const calls = [integration.call('first'), integration.call('second')];
      await clock.advance(60_000);
      expect(await Promise.all(calls)).toMatchObject([
        { failure: { attempts: 2 } },
        { failure: { attempts: 1, reason: 'retry_budget' } },
      ]);
    }
  });
});
