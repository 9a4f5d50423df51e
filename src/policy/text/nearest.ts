/** The known word that is most like `word`, when one is close enough to be what was meant: 2 edits away, or a third of its length. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    // At least as many letters have to come or go: a word of a megabyte is not compared.
    if (Math.abs(word.length - candidate.length) >= least) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    // Two short words with nothing in common are also two edits apart.
    if (distance < least && distance < Math.max(word.length, candidate.length)) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** The same of ids of sessions, which may have been given without what stands before the colon, such as `serve:`. */
export function nearestId(id: string, known: readonly string[]): string | undefined {
  return known.find((each) => each.endsWith(`:${id}`)) ?? nearest(id, known);
}

/** Optimal string alignment: insertions, deletions, substitutions, and neighbours that changed places. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + changed);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
