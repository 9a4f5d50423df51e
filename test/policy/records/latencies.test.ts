import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addLatencies, countOf, Latencies, quantile } from '../../../src/policy/records/latencies.ts';

function counted(...times: readonly number[]) {
  const latencies = new Latencies();
  for (const ms of times) latencies.add(ms);
  return latencies.take();
}

describe('latencies', () => {
  it('[O-10] gives every quantile to 6 %, or to 1/64 ms', () => {
    const times = fc.array(fc.double({ min: 0, max: 30_000_000, noNaN: true }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(times, fc.double({ min: 0.01, max: 1, noNaN: true }), (given, share) => {
        const sorted = given.toSorted((one, other) => one - other);
        const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
        const found = quantile(counted(...given), share) ?? Number.NaN;
        // Within the bucket of the exact one, which is as wide as an eighth of where it begins.
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact / 8 + 1 / 64);
      }),
    );
    const even = Array.from({ length: 10_000 }, (_, index) => index + 1);
    for (const share of [0.5, 0.95, 0.99])
      expect(Math.abs((quantile(counted(...even), share) ?? 0) / (10_000 * share) - 1)).toBeLessThan(0.06);
  });

  it('[O-10] adds up, whatever was counted where', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100_000)), fc.array(fc.nat(100_000)), (one, other) => {
        expect(addLatencies(counted(...one), counted(...other))).toEqual(counted(...one, ...other));
      }),
    );
  });

  it('counts what is longer than it can tell, negative or no number, and begins anew when it is taken', () => {
    const latencies = new Latencies();
    for (const ms of [Number.POSITIVE_INFINITY, 1e12, -1, Number.NaN]) latencies.add(ms);
    expect(countOf(latencies.take())).toBe(4);
    expect(latencies.take()).toEqual([]);
    expect(quantile([], 0.5)).toBeUndefined();
  });
});
