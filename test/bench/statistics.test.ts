import { describe, expect, it } from 'vitest';
import { inTurns, median, quantile, shareOf } from '../../bench/harness/statistics.ts';

describe('the statistics of a benchmark', () => {
  it('take the middle sample, or the mean of the two in the middle', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([9, 1, 5, 6])).toBe(5.5);
  });

  it('interpolate between neighbours', () => {
    expect(quantile([10, 20], 0)).toBe(10);
    expect(quantile([10, 20], 0.75)).toBe(17.5);
    expect(quantile([10, 20], 1)).toBe(20);
  });

  it('leave the samples as they are', () => {
    const samples = [3, 1, 2];
    quantile(samples, 0.5);
    expect(samples).toEqual([3, 1, 2]);
  });

  it('have nothing to say of no samples', () => {
    expect(() => median([])).toThrow(new RangeError('Expected at least one sample, got none'));
  });

  it('compare two turn by turn, another one first each time', async () => {
    const order: string[] = [];
    const next = (name: string, ...values: number[]) => {
      return async () => {
        order.push(name);
        return values.shift() ?? 0;
      };
    };
    const pair = await inTurns(3, next('o', 5, 80, 9), next('b', 10, 100, 10));
    expect(order.join('')).toBe('bo' + 'ob' + 'bo');
    expect(pair).toEqual({ own: [5, 80, 9], base: [10, 100, 10] });
    expect(shareOf(pair)).toBe(0.8);
  });
});
