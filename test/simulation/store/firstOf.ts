import type { StoreResult } from './runNodes.ts';

/**
 * The first violation that so many seeds find, one after the other.
 * @param first - the seed to begin with: a planted bug is looked for from a little before where it is found, not by minutes of seeds that miss it.
 */
export async function firstOf(
  seeds: number,
  simulate: (seed: number) => Promise<StoreResult>,
  first = 1,
): Promise<string | undefined> {
  for (let seed = first; seed < first + seeds; seed++) {
    const { violation } = await simulate(seed);
    if (violation !== undefined) return `seed ${seed}: ${violation}`;
  }
  return undefined;
}
