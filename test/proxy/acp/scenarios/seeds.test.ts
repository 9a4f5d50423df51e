import { describe, expect, it } from 'vitest';
import { playSeed } from '../seededWorld.ts';

describe('agents that go wrong by seed, behind unwedge acp', () => {
  it.each(Array.from({ length: 30 }, (_, index) => index + 1))(
    '[A-3] [I-1] seed %i: every prompt one answer, no text and no effect twice',
    async (seed) => {
      expect(await playSeed(seed)).toEqual([]);
    },
  );
});
