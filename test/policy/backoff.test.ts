import { fc } from '../support/property.ts';
import { describe, expect, it } from 'vitest';
import { backoffDelayMs, checkBackoff, type Growth, type Jitter } from '../../src/policy/backoff.ts';

const none: Jitter = { kind: 'none' };
const middle = () => 0.5;
const top = () => 1 - Number.EPSILON;

function delays(growth: Growth, attempts: readonly number[], jitter = none, random = middle): number[] {
  return attempts.map((attempt) => backoffDelayMs({ ...growth, jitter }, attempt, random));
}

describe('the backoff', () => {
  it('[R-1] waits 1, 2 and 4 s before the attempts 2, 3 and 4', () => {
    expect(delays({ kind: 'exponential', initialMs: 1000, factor: 2, maxMs: 8000 }, [2, 3, 4])).toEqual([
      1000, 2000, 4000,
    ]);
  });

  it('[R-2] grows by its factor up to the cap', () => {
    const backoff: Growth = { kind: 'exponential', initialMs: 10, factor: 3, maxMs: 80 };
    expect(delays(backoff, [2, 3, 4])).toEqual([10, 30, 80]);
  });

  it('[R-2] repeats the last delay of a list', () => {
    expect(delays({ kind: 'list', delaysMs: [100, 500] }, [2, 3, 4, 2000])).toEqual([100, 500, 500, 500]);
  });

  it('[R-2] caps a list where a cap is given', () => {
    expect(delays({ kind: 'list', delaysMs: [100, 500], maxMs: 300 }, [2, 3])).toEqual([100, 300]);
  });

  it('[R-2] waits the same each time when constant', () => {
    expect(delays({ kind: 'constant', delayMs: 70 }, [2, 9])).toEqual([70, 70]);
  });

  it('[R-2] spreads by plus and minus the factor', () => {
    const backoff: Growth = { kind: 'constant', delayMs: 1000 };
    const jitter: Jitter = { kind: 'factor', factor: 0.2 };
    expect(delays(backoff, [2], jitter, () => 0)).toEqual([800]);
    expect(delays(backoff, [2], jitter, middle)).toEqual([1000]);
    expect(delays(backoff, [2], jitter, top)[0]).toBeCloseTo(1200);
  });

  it('[R-2] spreads from 0 to the whole delay with full jitter', () => {
    const backoff: Growth = { kind: 'constant', delayMs: 1000 };
    expect(delays(backoff, [2], { kind: 'full' }, () => 0)).toEqual([0]);
    expect(delays(backoff, [2], { kind: 'full' }, () => 0.25)).toEqual([250]);
  });

  it('[R-2] clamps to the cap after jitter', () => {
    const backoff: Growth = { kind: 'exponential', initialMs: 1000, factor: 2, maxMs: 1000 };
    expect(delays(backoff, [2], { kind: 'factor', factor: 0.2 }, top)).toEqual([1000]);
  });

  it('[R-2] stays finite for attempt 2000', () => {
    expect(delays({ kind: 'exponential', initialMs: 1000, factor: 2, maxMs: 8000 }, [2000])).toEqual([8000]);
    const [uncapped] = delays(
      { kind: 'list', delaysMs: [Number.MAX_VALUE] },
      [2000],
      { kind: 'factor', factor: 1 },
      top,
    );
    expect(uncapped).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  it('[R-2] is between 0 and the cap for every policy, attempt and chance', () => {
    const growth = fc.record({
      initialMs: fc.double({ min: 1, max: 1e9, noNaN: true }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      maxMs: fc.integer({ min: 1, max: 2 ** 40 }),
    });
    const jitters = fc.oneof(
      fc.constant(none),
      fc.constant<Jitter>({ kind: 'full' }),
      fc.double({ min: 0, max: 1, noNaN: true }).map((factor): Jitter => ({ kind: 'factor', factor })),
    );
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(growth, jitters, chance, fc.integer({ min: 2, max: 5000 }), (given, jitter, random, attempt) => {
        const delayMs = backoffDelayMs({ kind: 'exponential', ...given, jitter }, attempt, () => random);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(given.maxMs);
      }),
    );
  });
});

describe('checking a backoff', () => {
  const growing = { kind: 'exponential', initialMs: 1, maxMs: 2 } as const;

  it.each([
    [{ ...growing, initialMs: 0 }, '`retry.initialMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ ...growing, maxMs: Number.POSITIVE_INFINITY }, '`retry.maxMs`'],
    [{ ...growing, factor: 0.9 }, '`retry.factor`'],
    [{ kind: 'list', delaysMs: [] }, '`retry.delaysMs` to be a list of at least one delay'],
    [{ kind: 'list', delaysMs: [1, -1] }, '`retry.delaysMs[1]`'],
    [{ kind: 'constant', delayMs: Number.NaN }, '`retry.delayMs`'],
    [{ kind: 'constant', delayMs: 1, maxMs: 5 }, 'Unknown option `retry.maxMs`'],
    [{ kind: 'linear' }, '`retry.kind` to be one of exponential, list, constant'],
    [{ ...growing, jitter: { kind: 'factor', factor: 1.01 } }, '`retry.jitter.factor`'],
    [{ ...growing, jitter: { kind: 'full', factor: 0.5 } }, 'Unknown option `retry.jitter.factor`'],
    [{ initialMs: 1, maxMs: 5, jitter: { kind: 'some' } }, '`retry.jitter.kind`'],
    [{ initalMs: 1, maxMs: 5 }, 'did you mean initialMs?'],
  ])('[R-2] refuses %j by name', (value, message) => {
    expect(() => checkBackoff('retry', value)).toThrow(message);
    expect(() => checkBackoff('retry', value)).toThrow(RangeError);
  });

  it('[R-2] refuses what is no object', () => {
    expect(() => checkBackoff('retry', 5)).toThrow(
      new TypeError('Expected `retry` to be an object whose kind is exponential, list or constant, got 5'),
    );
  });

  it('[R-2] keeps a copy that later changes of the input do not reach', () => {
    const delaysMs = [100];
    const policy = checkBackoff('retry', { kind: 'list', delaysMs });
    delaysMs[0] = 1;
    expect(backoffDelayMs(policy, 2, middle)).toBe(100);
    expect(Object.isFrozen(policy)).toBe(true);
  });

  it('[R-2] grows exponentially by 2, with full jitter, where nobody says how', () => {
    const read = checkBackoff('retry', { initialMs: 200, maxMs: 5000 });
    expect(read).toEqual({ kind: 'exponential', initialMs: 200, factor: 2, maxMs: 5000, jitter: { kind: 'full' } });
    const own = { initialMs: 1, maxMs: 9, factor: 3, jitter: none } as const;
    expect(checkBackoff('retry', own)).toEqual({ kind: 'exponential', ...own });
  });

  it('[R-2] reads what it has read to the same', () => {
    const read = checkBackoff('retry', { kind: 'list', delaysMs: ['1s', 5], maxMs: '2s' });
    expect(checkBackoff('retry', read)).toEqual(read);
  });

  it('[R-2] names the figure that is missing', () => {
    expect(() => checkBackoff('retry', { initialMs: 1 })).toThrow(
      '`retry.maxMs` to be a duration above 0 (ms, or text such as 30s), got undefined',
    );
    expect(() => checkBackoff('retry', { maxMs: 1 })).toThrow('`retry.initialMs`');
  });

  it.each([
    [{ kind: 'exponential', initialMs: 1, maxMs: 2 }, 'full'],
    [{ kind: 'list', delaysMs: [1] }, 'none'],
    [{ kind: 'constant', delayMs: 1 }, 'none'],
  ])('[R-2] spreads %j, where nobody says how, as %s', (given, kind) => {
    expect(checkBackoff('retry', given)).toMatchObject({ jitter: { kind } });
  });
});
