import { describe, expect, it } from 'vitest';
import { startIntegration } from '../../support/startIntegration.ts';

describe('the permits of an integration', () => {
  it('[M-9] serves a long queue of answers that come at once', async () => {
    let first: (value: string) => void = () => undefined;
    let calls = 0;
    const { integration } = startIntegration({ maxInFlight: 1, queueLength: 20_000 }, () =>
      ++calls > 1
        ? 'at once'
        : new Promise((resolve) => {
            first = resolve;
          }),
    );
    const outcomes = Array.from({ length: 20_000 }, () => integration.call('ask'));
    first('slow');
    expect((await Promise.all(outcomes)).every(({ ok }) => ok)).toBe(true);
  });

  it('[M-9] replaces no more work than its bound, however often it comes back', async () => {
    const { integration, clock, attempt, seen } = startIntegration({
      maxInFlight: 1,
      maxAbandoned: 1,
      abortGraceMs: 10,
      retry: { maxAttempts: 1 },
    });
    const hang = async (): Promise<void> => {
      void integration.call('hangs', { overallMs: 100 });
      await clock.advance(200);
    };
    await hang();
    await hang();
    expect(integration.state).toBe('crashed');
    attempt(0).resolve('after all');
    await clock.settle();
    await hang();
    expect(seen).toHaveLength(3);
    expect(integration.state).toBe('crashed');
  });
});
