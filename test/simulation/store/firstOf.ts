import type { StoreResult } from './runNodes.ts';

/** The seeds of a test: the fewest hundreds that find every bug which is planted. `npm run simulate` takes more. */
const seeds = 200;

/**
 * The first violation that the seeds of a test find, one after the other.
 * @param first - the seed to begin with: a planted bug is looked for from a little before where it is found, not by minutes of seeds that miss it.
 */
export async function firstOf(
  simulate: (seed: number) => Promise<StoreResult>,
  first = 1,
): Promise<string | undefined> {
  for (let seed = first; seed <= seeds; seed++) {
    const { violation } = await simulate(seed);
    if (violation !== undefined) return `seed ${seed}: ${violation}`;
  }
  return undefined;
}
