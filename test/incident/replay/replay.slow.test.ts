import { describe, expect, it } from 'vitest';
import { replayOfSeed } from './replayOfSeed.ts';

// Seeds before these are in replay.test.ts.
const seeds = Array.from({ length: 130 }, (_, index) => index + 21);

describe('the replay of many random scenarios', () => {
  it.each(seeds)('[O-16] ends as the scenario did, seed %i', async (seed) => {
    const { first, unlikeSeen, calls } = await replayOfSeed(seed);
    expect(first).toBeUndefined();
    // Of each call that the record knows, the caller saw the same.
    expect(unlikeSeen).toEqual([]);
    expect(calls).toBeGreaterThan(10);
  });
});
