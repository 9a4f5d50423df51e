import { describe, expect, it } from 'vitest';
import { visitsOf } from '../visitsOfChildren.ts';

describe('start and stop of many children', () => {
  it('[V-8] scenario 24: take as many steps for a child among 5,000 as among 10,000, 20,000 and 40,000', async () => {
    const small = await visitsOf(5000);
    for (const count of [10_000, 20_000, 40_000]) {
      const large = await visitsOf(count);
      expect(large.starting).toBeLessThanOrEqual(small.starting);
      expect(large.stopping).toBeLessThanOrEqual(small.stopping * 1.1);
      expect(large.turns).toBeLessThanOrEqual(small.turns * 1.1);
    }
  });
});
