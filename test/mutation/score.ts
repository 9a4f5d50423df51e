import type { Mutant } from './report.ts';

/** The lowest score that passes, in per cent. */
export const leastScore = 85;

/** The mutants that were tried in a room, and how many of them were noticed. */
export interface Score {
  readonly tried: number;
  readonly killed: number;
  /** In per cent. */
  readonly score: number;
  /** Interval of a sample's score, by Wilson, with 95 % certainty. */
  readonly interval: readonly [number, number];
}

export function isNoticed({ status }: Mutant): boolean {
  return status === 'killed' || status === 'timeout';
}

export function scoreOf(mutants: readonly Mutant[]): Score {
  const tried = mutants.length;
  const killed = mutants.filter(isNoticed).length;
  return { tried, killed, score: tried === 0 ? 0 : (100 * killed) / tried, interval: wilson(killed, tried) };
}

/** The interval of Wilson for a share, in per cent. */
function wilson(hits: number, of: number): [number, number] {
  if (of === 0) return [0, 100];
  const z = 1.96;
  const share = hits / of;
  const middle = share + z ** 2 / (2 * of);
  const width = z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2));
  return [(100 * (middle - width)) / (1 + z ** 2 / of), (100 * (middle + width)) / (1 + z ** 2 / of)];
}
