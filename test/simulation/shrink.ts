import type { Result } from './play.ts';

/** Plays a seed with some of its planned steps alone. */
export type PlaySome = (only: readonly number[]) => Promise<Result>;

/** Most runs of one seed, so that a slow world is not played for ever. */
const mostRuns = 300;

/**
 * The fewest planned steps with which the same promise is broken, by delta debugging: parts of the list, and what is left without each part, in ever
 * smaller parts. @returns the run of those steps; undefined where the violation does not come again.
 */
export async function shrink(failed: Result, play: PlaySome): Promise<Result | undefined> {
  const requirement = failed.violation?.requirement;
  let runs = 0;
  const breaks = async (steps: readonly number[]): Promise<Result | undefined> => {
    if (runs++ >= mostRuns) return undefined;
    const result = await play(steps);
    return result.violation?.requirement === requirement ? { ...result, only: steps } : undefined;
  };
  const none = await breaks([]);
  if (none !== undefined) return none;
  let steps: readonly number[] = Array.from({ length: failed.reached }, (_, number) => number);
  let fewest = await breaks(steps);
  for (let parts = 2; fewest !== undefined && steps.length > 1; ) {
    const size = Math.ceil(steps.length / parts);
    const starts = Array.from({ length: Math.ceil(steps.length / size) }, (_, part) => part * size);
    let found: Result | undefined;
    for (const start of starts) {
      found ??= await breaks([...steps.slice(0, start), ...steps.slice(start + size)]);
      if (found !== undefined) break;
    }
    if (found !== undefined) {
      fewest = found;
      steps = found.only ?? [];
      parts = Math.max(parts - 1, 2);
    } else if (size === 1) break;
    else parts = Math.min(steps.length, parts * 2);
  }
  return fewest;
}
