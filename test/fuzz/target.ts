/** An input from outside, what reads it, and what must hold of that. */
export interface Target {
  /** Inputs to begin with, which are changed from then on. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words that its readers look for, beside those of the source. @defaultValue none */
  readonly words?: readonly string[];
  /** Longest input, in bytes. @defaultValue 4096 */
  readonly maxBytes?: number;
  /** Most steps for an input, by its length in bytes: a step is a branch of the source that was taken. @defaultValue 100,000 and 300 a byte */
  readonly mostSteps?: (bytes: number) => number;
  /** Reads it. Throws, or rejects, where something does not hold. @param random - chance of this input, from 0 to 1. */
  run(input: Buffer, random: () => number): unknown;
  /** Ends what it has open. */
  close?(): Promise<void>;
}

/** A promise that was not kept by what read an input. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

export function must(holds: boolean, says: string): asserts holds {
  if (!holds) throw new Violation(says);
}

/** Two texts are one, told by where they part. */
export function same(one: string, other: string, what: string): void {
  if (one === other) return;
  let at = 0;
  while (one[at] === other[at]) at++;
  const from = Math.max(0, at - 20);
  must(false, `${what}: ${JSON.stringify(one.slice(from, at + 60))} and ${JSON.stringify(other.slice(from, at + 60))}`);
}

// eslint-disable-next-line no-control-regex
const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;

/** What is printed holds nothing that a terminal obeys: no control character but a line break and a tab, no mark of direction. */
export function mustBePlain(text: string, what: string): void {
  const found = raw.exec(text);
  if (found !== null)
    must(
      false,
      `${what} holds U+${found[0].codePointAt(0)?.toString(16)}: ${JSON.stringify(text.slice(Math.max(0, found.index - 30), found.index + 30))}`,
    );
}

/** Cuts an input at places by chance. */
export function pieces(input: Buffer, random: () => number): Buffer[] {
  const cut: Buffer[] = [];
  let at = 0;
  while (at < input.length) {
    const next = at + 1 + Math.floor(random() ** 3 * 200);
    cut.push(input.subarray(at, next));
    at = next;
  }
  return cut;
}

/** What is thrown is one of these, else it goes on. */
export function expecting<T>(
  run: () => T,
  ...expected: readonly (abstract new (
    ...args: never[]
  ) => Error)[]
): T | undefined {
  try {
    return run();
  } catch (error) {
    if (!expected.some((each) => error instanceof each)) throw error;
    mustBeTold(error as Error);
    return undefined;
  }
}

/** An error that people read is plain. */
export function mustBeTold(error: Error): void {
  mustBePlain(error.message, 'an error');
}
