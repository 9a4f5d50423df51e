import { describe, expect, it } from 'vitest';
import { isSettled } from '../support/deferred.ts';
import { fault, startIntegration } from '../support/startIntegration.ts';

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
    for (let index = 0; index < 5; index++) void integration.call('waits for a place');
    seen[before]?.reject(fault('transient'));
    await clock.settle();
    expect(await isSettled(lone)).toBe(false);
  });
});
