/** The value below which a share `q` (0 to 1) of the samples lies, interpolated between neighbours. @throws RangeError without samples */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * q;
  const low = sorted[Math.floor(place)];
  const high = sorted[Math.ceil(place)];
  if (low === undefined || high === undefined) throw new RangeError('Expected at least one sample, got none');
  return low + (high - low) * (place - Math.floor(place));
}

/** The middle sample, or the mean of the two in the middle. @throws RangeError without samples */
export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Samples of both of a comparison. */
export interface Pair<T> {
  readonly own: T[];
  readonly base: T[];
}

/** Has two do their work in turns, another one first each time: what disturbs the machine disturbs both, and who comes second finds all warmer. */
export async function inTurns<T>(turns: number, own: () => Promise<T>, base: () => Promise<T>): Promise<Pair<T>> {
  const pair: Pair<T> = { own: [], base: [] };
  for (let turn = 0; turn < turns; turn++) {
    const isFirst = turn % 2 === 0;
    if (isFirst) pair.base.push(await base());
    pair.own.push(await own());
    if (!isFirst) pair.base.push(await base());
  }
  return pair;
}

/** The middle of what the first is of the second, turn by turn. */
export function shareOf({ own, base }: Pair<number>): number {
  return median(own.map((value, turn) => value / (base[turn] ?? value)));
}
