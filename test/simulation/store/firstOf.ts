import type { Mutate } from './simulatedProcess.ts';
import type { StoreResult } from './runNodes.ts';

/** The seeds of a test: the fewest hundreds that find every bug which is planted. `npm run simulate` takes more. */
const seeds = 200;

/**
 * The first violation that the seeds of a test find, one after the other.
 * @param plant - a bug that is to be found: it changes statements, and one that fits none any more would be looked for in vain, which is thrown.
 * @param first - the seed to begin with: a planted bug is looked for from a little before where it is found, not by minutes of seeds that miss it.
 */
export async function firstOf(
  simulate: (seed: number, mutate: Mutate) => Promise<StoreResult>,
  plant?: Mutate,
  first = 1,
): Promise<string | undefined> {
  let changes = 0;
  const mutate: Mutate = (text, node) => {
    const changed = plant?.(text, node) ?? text;
    if (changed !== text) changes++;
    return changed;
  };
  for (let seed = first; seed <= seeds; seed++) {
    const { violation } = await simulate(seed, mutate);
    if (violation !== undefined) return `seed ${seed}: ${violation}`;
  }
  if (plant !== undefined && changes === 0) throw new Error('The plant changes no statement');
  return undefined;
}
