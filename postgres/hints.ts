/** Longest payload of a NOTIFY, in bytes. */
const mostBytes = 7_999;

/** Hint that stands for more hints than fit. */
const everything = '*';

/** Hints on their way: each is sent once, many go together. */
export class Hints {
  readonly #texts = new Set<string>();
  /** An upper bound: of commas, quotes and brackets too. */
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#texts.size === 0;
  }

  add(hint: string): void {
    // Hints that have overflown are sent as one hint, which is not to grow meanwhile.
    if (this.#bytes > mostBytes || this.#texts.has(hint)) return;
    this.#texts.add(hint);
    this.#bytes += Buffer.byteLength(JSON.stringify(hint)) + 2;
  }

  /** All of them as the payload of a NOTIFY; none is left. */
  take(): string {
    const payload = this.#bytes > mostBytes ? everything : JSON.stringify([...this.#texts]);
    this.#texts.clear();
    this.#bytes = 0;
    return payload;
  }
}

/** The hints in a payload; undefined when anything may have happened. */
export function hintsIn(payload: string): readonly string[] | undefined {
  try {
    const read: unknown = JSON.parse(payload);
    return Array.isArray(read) ? read.map(String) : undefined;
  } catch {
    return undefined;
  }
}
