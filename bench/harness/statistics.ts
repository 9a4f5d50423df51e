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
