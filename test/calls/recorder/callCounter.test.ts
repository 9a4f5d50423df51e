import { describe, expect, it } from 'vitest';
import { CallCounter } from '../../../src/calls/recorder/callCounter.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

describe('the counter of a call path', () => {
  it('[O-10] counts each end of a call of a tool for the tool and for the whole', async () => {
    const statistics = new CallCounter({ counted: () => undefined });
    const policy = { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 10 } } } as const;
    const started = startIntegration(policy, undefined, { statistics, toolOf: (tool) => tool });
    const end = async (tool: string, ...failures: readonly boolean[]): Promise<unknown> => {
      const call = started.integration.call(tool, { effect: 'readOnly' });
      for (const fails of failures) {
        await started.clock.settle();
        const attempt = started.seen.at(-1);
        if (fails) attempt?.reject(fault('transient'));
        else attempt?.resolve('answer');
        await started.clock.advance(10);
      }
      return call;
    };
    await end('read', false);
    await end('read', true, false);
    await end('write', true, true);
    const release = started.integration.breaker.isolate();
    await end('write');
    release();
    const figures = statistics.take().map(({ tool, succeeded, failed, refused, retries }) => ({
      tool,
      succeeded,
      failed,
      refused,
      retries,
    }));
    expect(figures).toEqual([
      { tool: undefined, succeeded: 2, failed: { transient: 1 }, refused: 1, retries: 2 },
      { tool: 'read', succeeded: 2, failed: {}, refused: 0, retries: 1 },
      { tool: 'write', succeeded: 0, failed: { transient: 1 }, refused: 1, retries: 1 },
    ]);
    expect(statistics.take()).toEqual([]);
  });

  it.each([{}, { fallback: () => 'stale' }])(
    '[O-10] counts what ends before anything is sent as refused: %#',
    async (more) => {
      const statistics = new CallCounter({ counted: () => undefined });
      const started = startIntegration({ maxInFlight: 1, queueLength: 3 }, undefined, { statistics });
      const first = started.integration.call('first');
      await started.clock.settle();
      const controller = new AbortController();
      const cancelled = started.integration.call('cancelled', { signal: controller.signal, ...more });
      const late = started.integration.call('late', { overallMs: 20, ...more });
      controller.abort();
      await started.clock.advance(20);
      const aborted = await started.integration.call('aborted', { signal: controller.signal, ...more });
      expect([await cancelled, aborted]).toMatchObject([
        { failure: { kind: 'cancelled', attempts: 0 } },
        { failure: { kind: 'cancelled', attempts: 0 } },
      ]);
      // A queue of our own says nothing of the integration.
      const told = await late;
      expect(told.ok || told.failure).toMatchObject(
        more.fallback === undefined ? { kind: 'timeout', attempts: 0, alerts: false } : {},
      );
      started.seen.at(-1)?.resolve('answer');
      await first;
      expect(statistics.take()).toMatchObject([{ succeeded: 1, failed: {}, fellBack: 0, refused: 3 }]);
    },
  );
});
