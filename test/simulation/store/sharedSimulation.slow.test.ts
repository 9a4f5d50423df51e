import { describe, expect, it } from 'vitest';
import { firstOf } from './firstOf.ts';
import type { Mutate } from './simulatedProcess.ts';
import { simulateShared } from './simulateShared.ts';

describe('what nodes share on a simulated database', { timeout: 1_800_000 }, () => {
  const firstSharedViolation = (plant?: Mutate): Promise<string | undefined> =>
    firstOf((seed, mutate) => simulateShared({ seed, mutate }), plant);

  it('[N-5] [O-3] [R-15] [M-8] is counted once, ends alike on all nodes, and is told by one, over 200 seeds', async () => {
    expect(await firstSharedViolation()).toBeUndefined();
  });

  describe('find a planted bug:', () => {
    it('[N-5] a failure that replaces those of others', async () => {
      const bug: Mutate = (text) =>
        text.replace('failures = b.failures + excluded.failures', 'failures = excluded.failures');
      expect(await firstSharedViolation(bug)).toMatch(/failures counted/);
    });

    it('[M-11] a breaker of an older generation that replaces a newer one', async () => {
      const bug: Mutate = (text) => text.replace('WHERE excluded.generation >= b.generation', 'WHERE true');
      expect(await firstSharedViolation(bug)).toMatch(/saved generation/);
    });

    it('[O-3] an alert that is cleared by two', async () => {
      const bug: Mutate = (text) =>
        text.includes('FOR UPDATE OF a') ? text.replace('AND a.cleared_at IS NULL', '') : text;
      expect(await firstSharedViolation(bug)).toMatch(/cleared twice|have both cleared/);
    });
  });
});
