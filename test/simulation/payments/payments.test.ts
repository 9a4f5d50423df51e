import { describe, expect, it } from 'vitest';
import type { Ruling } from './rules.ts';
import { simulatePayments } from './simulatePayments.ts';

/** The first violation of some seeds. */
async function firstViolation(seeds: number, amend: (ruling: Ruling) => Ruling): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await simulatePayments({ seed, amend });
    if (violation !== undefined) return violation.what;
  }
  return undefined;
}

describe('the simulation of payments', () => {
  it('does the same again with the same seed, and something else with another', async () => {
    const [first, again] = [await simulatePayments({ seed: 7 }), await simulatePayments({ seed: 7 })];
    expect(again).toEqual(first);
    expect((await simulatePayments({ seed: 8 })).hash).not.toBe(first.hash);
  });

  it('[R-16] notices a rule that vouches for what is not so', async () => {
    const found = await firstViolation(60, (ruling) => ({
      ...ruling,
      kind: 'function',
      isLocal: false,
      notBeforeMs: 0,
    }));
    expect(found).toMatch(/is paid/);
  });

  it('[R-16] notices a server that does not honour keys', async () => {
    const found = await firstViolation(60, (ruling) => ({
      ...ruling,
      kind: 'key',
      bounds: { ...ruling.bounds, honoursKeys: false },
    }));
    expect(found).toMatch(/is paid twice/);
  });
});
