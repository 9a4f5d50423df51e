import { describe, expect, it } from 'vitest';
import type { AttemptContext } from '../../../src/calls/operation.ts';
import { startIntegration } from '../../support/startIntegration.ts';
import { isOfWork, joinedSignal, markRetried } from '../../../src/calls/workSignal.ts';

const constant = { kind: 'constant', delayMs: 7, jitter: { kind: 'none' } } as const;

describe('the context of an attempt', () => {
  it('[R-12] names its call, the same for all its attempts and for no other', async () => {
    const { integration, seen, clock } = startIntegration();
    void integration.call('a');
    void integration.call('b');
    seen[0]?.reject(new Error('HTTP 503'));
    await clock.advance(2000);
    const calls = seen.map(({ context }) => context.call);
    expect(calls[2]).toBe(calls[0]);
    expect(calls[1]).not.toBe(calls[0]);
  });

  it('[R-6] [R-12] tells how many attempts there may be, and what the call may do', () => {
    const { integration, seen } = startIntegration();
    void integration.call('a', { maxAttempts: 3, effect: 'readOnly' });
    expect(seen[0]?.context).toMatchObject({ maxAttempts: 3, effect: 'readOnly' });
  });

  it.each([
    [3, undefined, true],
    [1, undefined, false],
    [1, 2, true],
    [undefined, 1, false],
  ])(
    '[R-6] tells whether the same may be asked again: %s attempts, in work of %s',
    (maxAttempts, ofWork, mayRepeat) => {
      const { integration, seen } = startIntegration();
      const { signal } = new AbortController();
      if (ofWork !== undefined) markRetried(signal, ofWork);
      void integration.call('a', { maxAttempts, signal: joinedSignal(new AbortController().signal, signal) });
      expect(seen[0]?.context.mayRepeat).toBe(mayRepeat);
    },
  );

  it('[R-9] [R-12] gives what is known of an attempt that ended by its limit, before it is tried again', async () => {
    const asked: AttemptContext[] = [];
    const { integration, clock, seen } = startIntegration({}, undefined, {
      describeTimeout: () => 'too long',
      amendTimeout: (facts, attempt) => {
        asked.push(attempt);
        return { ...facts, shouldRetry: false };
      },
    });
    const outcome = integration.call('a', { attemptMs: 1000 });
    await clock.advance(1000);
    const failure = { kind: 'timeout', message: 'too long', attempts: 1, retryable: false };
    expect(await outcome).toMatchObject({ ok: false, failure });
    expect(asked).toEqual([seen[0]?.context]);
  });
});

describe('the waits of one call', () => {
  it('[R-2] may differ from those of its integration', async () => {
    const { integration, facts, clock, seen } = startIntegration();
    void integration.call('a', { backoff: constant });
    seen[0]?.reject(new Error('HTTP 503'));
    await clock.settle();
    expect(facts.of('call.retried').map(({ delayMs }) => delayMs)).toEqual([7]);
  });

  it('[R-2] are checked', () => {
    const { integration } = startIntegration();
    const wrong = { ...constant, jitter: { kind: 'factor', factor: 2 } } as const;
    expect(() => integration.call('a', { backoff: wrong })).toThrow('`options.backoff.jitter.factor`');
  });
});

describe('the signal of an attempt', () => {
  it('[I-1] is of work under way until its work has ended, also when it is read after', async () => {
    const { integration, attempt } = startIntegration();
    const outcome = ['first', 'second'].map((input) => integration.call(input));
    const { signal } = attempt(0).context;
    expect(isOfWork(signal)).toBe(true);
    for (const index of [0, 1]) attempt(index).resolve('answer');
    await Promise.all(outcome);
    expect([isOfWork(signal), isOfWork(attempt(1).context.signal)]).toEqual([false, false]);
  });
});
