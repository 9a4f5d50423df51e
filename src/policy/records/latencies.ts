/** Steps in which one doubling of the time is told apart. */
const steps = 8;
/** A ms, in the unit that is counted. */
const unitsPerMs = 64;
/** Longest time; what is longer counts as this: 9.3 h. */
const longest = 2 ** 31 - 1;
const buckets = bucketOf(longest) + 1;

/** Counts by bucket: index, count, index, count, and so on; indexes ascend. */
export type LatencyCounts = readonly number[];

/**
 * Times that things took, as counts in buckets that grow with the time: a quantile is right to 6 %, or to 1/64 ms. Counting allocates nothing; what was
 * counted in several places, or at several times, adds up.
 */
export class Latencies {
  readonly #counts = new Uint32Array(buckets);

  add(ms: number): void {
    const index = bucketOf(Math.min(ms * unitsPerMs, longest));
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  /** @returns what was counted; begins anew. */
  take(): LatencyCounts {
    const taken: number[] = [];
    for (const [index, count] of this.#counts.entries()) if (count > 0) taken.push(index, count);
    this.#counts.fill(0);
    return taken;
  }
}

function bucketOf(units: number): number {
  const whole = units > 0 ? units | 0 : 0;
  if (whole < steps) return whole;
  const doublings = 31 - Math.clz32(whole);
  return (doublings - 2) * steps + ((whole >> (doublings - 3)) & (steps - 1));
}

/** Tells where a bucket begins, in ms. */
function beginOf(index: number): number {
  if (index < steps) return index / unitsPerMs;
  return ((steps + (index % steps)) * 2 ** (Math.floor(index / steps) - 1)) / unitsPerMs;
}

export function addLatencies(one: LatencyCounts, other: LatencyCounts): LatencyCounts {
  if (one.length === 0) return other;
  if (other.length === 0) return one;
  const sum: number[] = [];
  let at = 0;
  let otherAt = 0;
  while (at < one.length || otherAt < other.length) {
    const index = one[at] ?? Number.POSITIVE_INFINITY;
    const otherIndex = other[otherAt] ?? Number.POSITIVE_INFINITY;
    let count = 0;
    if (index <= otherIndex) {
      count += one[at + 1] ?? 0;
      at += 2;
    }
    if (otherIndex <= index) {
      count += other[otherAt + 1] ?? 0;
      otherAt += 2;
    }
    sum.push(Math.min(index, otherIndex), count);
  }
  return sum;
}

export function countOf(counts: LatencyCounts): number {
  return counts.reduce((sum, count, at) => (at % 2 === 1 ? sum + count : sum), 0);
}

/** Counts those that took less than this. @param ms - a power of two, from 1/8 on: where a bucket begins. */
export function atMost(counts: LatencyCounts, ms: number): number {
  const end = bucketOf(Math.min(ms * unitsPerMs, longest));
  return counts.reduce((sum, count, at) => (at % 2 === 1 && (counts[at - 1] ?? 0) < end ? sum + count : sum), 0);
}

/** Estimates what all took together, in ms, right to 6 %. Grows with what is counted. */
export function estimatedSumMs(counts: LatencyCounts): number {
  return counts.reduce((sum, count, at) => {
    const index = counts[at - 1] ?? 0;
    return at % 2 === 1 ? sum + (count * (beginOf(index) + beginOf(index + 1))) / 2 : sum;
  }, 0);
}

/** @param share - from 0 to 1. @returns the time that this share of all took at most, in ms; undefined where nothing was counted. */
export function quantile(counts: LatencyCounts, share: number): number | undefined {
  const wanted = countOf(counts) * share;
  let below = 0;
  for (let at = 0; at + 1 < counts.length; at += 2) {
    const [index = 0, count = 0] = counts.slice(at, at + 2);
    if (below + count >= wanted) {
      const begin = beginOf(index);
      return begin + ((beginOf(index + 1) - begin) * (wanted - below)) / count;
    }
    below += count;
  }
  return undefined;
}
