import { describe, expect, it } from 'vitest';
import { replayOfSeed } from './replayOfSeed.ts';

// The last are those in which much waited for the same ms. More are in replay.slow.test.ts; some thousands were run by hand.
const seeds = [...Array.from({ length: 20 }, (_, index) => index + 1), 222, 296, 390, 1071, 1076, 1108];

describe('the replay of a random scenario', () => {
  it.each(seeds)('[O-16] ends as the scenario did, seed %i', async (seed) => {
    const { first, unlikeSeen, calls } = await replayOfSeed(seed);
    expect(first).toBeUndefined();
    // Of each call that the record knows, the caller saw the same.
    expect(unlikeSeen).toEqual([]);
    expect(calls).toBeGreaterThan(10);
  });
});
