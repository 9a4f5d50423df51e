/** Offsets in UTF-16 units: from the first to the one after the last. */
export type Range = readonly [start: number, end: number];

/** A piece of text in the place of another; an insertion has an empty range. */
export interface TextEdit {
  readonly range: Range;
  readonly text: string;
}

/**
 * The text with all edits made at once. Their order does not matter.
 * @throws RangeError when two of them overlap: what is meant is not clear then.
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = '';
  let at = 0;
  for (const { range, text: piece } of inOrder(edits)) {
    const [start, end] = range;
    if (start < at) throw new RangeError(`Edits overlap at ${start}`);
    result += text.slice(at, start) + piece;
    at = end;
  }
  return result + text.slice(at);
}

/** By where they begin. */
export function inOrder(edits: readonly TextEdit[]): readonly TextEdit[] {
  return edits.toSorted((one, other) => one.range[0] - other.range[0] || one.range[1] - other.range[1]);
}
