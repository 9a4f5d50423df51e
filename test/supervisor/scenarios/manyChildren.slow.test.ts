import { describe, expect, it } from 'vitest';
import { growthOfVisits } from '../visitsOfChildren.ts';

describe('start and stop of many children', () => {
  it.each([10_000, 20_000, 40_000])(
    '[V-8] scenario 24: take as many steps for a child among 5,000 as among %i',
    async (count) => {
      const [starting, stopping, turns] = await growthOfVisits(5000, count);
      expect(starting).toBeLessThanOrEqual(1);
      expect(stopping).toBeLessThanOrEqual(1.1);
      expect(turns).toBeLessThanOrEqual(1.1);
    },
  );
});
