/** Time from the opening to the first pass, in ms: a start has other things to do. */
export const firstPassMs = 60_000;
/** Between two passes, in ms. */
export const passEveryMs = 60 * 60_000;
/** Between two steps, in ms, for others to have their turn. */
export const stepPauseMs = 20;
/** Younger events are kept whatever the size of the store, in ms. */
const leastEventAgeMs = 60_000;
/** The same for what is kept of sessions: it is their history. */
export const leastSessionAgeMs = 24 * 60 * 60_000;

/** The ages by which a store is brought below its size: half of what is kept anyway, half of that, and so on. */
export function agesBelow(maxAgeMs: number): readonly number[] {
  const ages: number[] = [];
  for (let ageMs = maxAgeMs / 2; ageMs >= leastEventAgeMs; ageMs /= 2) ages.push(ageMs);
  return ages;
}
