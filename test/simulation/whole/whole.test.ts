import { beforeAll, describe, expect, it } from 'vitest';
import { loadAll } from './load.ts';
import { partMakers } from './parts/partMakers.ts';
import { simulateWhole } from './simulateWhole.ts';

describe('the simulation of a whole gateway', () => {
  beforeAll(async () => {
    await loadAll();
    await simulateWhole({ seed: 3 }, 'mcp');
  }, 120_000);

  it.each(Object.keys(partMakers))('[Q-1] %s does the same again with the same seed', async (part) => {
    const [first, again] = [await simulateWhole({ seed: 3 }, part), await simulateWhole({ seed: 3 }, part)];
    expect(again).toEqual(first);
    expect(first.violation).toBeUndefined();
    expect(first.calls).toBeGreaterThan(10);
  });
});
