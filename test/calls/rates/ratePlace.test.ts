import { describe, expect, it } from 'vitest';
import { TypicalCosts } from '../../../src/calls/rates/ratePlace.ts';

describe('what attempts typically cost', () => {
  it('[R-15] is the mean of the last words of the attempts, and follows what changes', () => {
    const typical = new TypicalCosts();
    expect(typical.all).toEqual({});
    const [one, two] = [10, 30].map((tokens) => typical.add('tokens', tokens)) as [number, number];
    expect(typical.all).toEqual({ tokens: 20 });
    typical.correct('tokens', 40, two);
    expect(typical.all).toEqual({ tokens: 40 });
    expect(one).toBe(1);
    for (let n = 0; n < 60; n++) typical.add('tokens', 1000);
    expect(typical.all['tokens']).toBeGreaterThan(990);
    typical.correct('tokens', -1e9, 1);
    expect(typical.all).toEqual({ tokens: 0 });
  });
});
