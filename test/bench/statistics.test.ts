import { describe, expect, it } from 'vitest';
import { median, quantile } from '../../bench/harness/statistics.ts';

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
});
