import type { StoreResult } from './runNodes.ts';

/** The first violation that seeds find, one after the other. */
export async function firstOf(
  seeds: number,
  simulate: (seed: number) => Promise<StoreResult>,
): Promise<string | undefined> {
  for (let seed = 1; seed <= seeds; seed++) {
    const { violation } = await simulate(seed);
    if (violation !== undefined) return `seed ${seed}: ${violation}`;
  }
  return undefined;
}
