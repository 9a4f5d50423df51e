import { describe, expect, it } from 'vitest';
import { BreakerCounts } from '../../src/calls/breakerCounts.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';

const start = (breaker = {}) => new BreakerCounts(resolvePolicy('kb', { breaker }).breaker);

describe('what a breaker counts', () => {
  it('[M-4] holds an answer without a time from the moment that is told next', () => {
    const counts = start({ windowMs: 1000 });
    counts.answeredJustNow();
    counts.timeIs(500);
    expect(counts.failed(1499)).toEqual({ consecutive: 1, failures: 1, total: 2 });
    expect(counts.failed(1500)).toEqual({ consecutive: 2, failures: 2, total: 2 });
  });

  it('[M-4] counts answers without a time before the failure or the answer that comes next', () => {
    const counts = start({ windowSize: 2, minimumAttempts: 1 });
    counts.failed(0);
    counts.answeredJustNow();
    expect(counts.failed(1)).toEqual({ consecutive: 1, failures: 1, total: 2 });
    counts.answeredJustNow();
    counts.answered(2);
    expect(counts.failed(3)).toEqual({ consecutive: 1, failures: 1, total: 2 });
  });

  it('[M-4] ends the failures in a row with an answer, whether its time is known or not', () => {
    const counts = start();
    counts.failed(0);
    counts.answeredJustNow();
    expect(counts.failed(1).consecutive).toBe(1);
    counts.answered(2);
    expect(counts.failed(3).consecutive).toBe(1);
  });

  it('[M-4] forgets answers without a time too', () => {
    const counts = start();
    counts.answeredJustNow();
    counts.clear();
    expect(counts.failed(1)).toEqual({ consecutive: 1, failures: 1, total: 1 });
    counts.answeredJustNow();
    counts.begin();
    expect(counts.failed(2)).toEqual({ consecutive: 1, failures: 1, total: 1 });
  });
});
