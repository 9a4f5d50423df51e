/** Characters of an answer by which one that is begun anew is known, and the most that are compared. */
const leastText = 20;
const mostText = 64 * 1024;

/** What is to be done with a piece of an answer: passed, left out, or passed in part; `before`: pieces that were held back, and are passed before it. */
interface Passed<T> {
  readonly before: readonly T[];
  readonly own: 'all' | 'none' | { readonly rest: string };
}

/**
 * The text of an answer that its agent begins anew, as after a connection that broke: what its reader has is not told twice. Pieces that repeat the
 * answer from its beginning are held back for as long as they do; where they go on otherwise it was another answer, and they are passed.
 */
export class TextRepeats<T> {
  /** What was told since the last tool, or the beginning; undefined where that is too long to be compared. */
  #told: string | undefined = '';
  /** How much of it was told again; undefined while nothing is. */
  #again: number | undefined = undefined;
  #held: T[] = [];
  #messageId: unknown = undefined;

  /** The agent says that it asks again: what follows may begin anew. */
  beginsAnew(): void {
    if (this.#told !== undefined && this.#told.length >= leastText) this.#again = 0;
    this.#held = [];
  }

  /** Something else than text was told. */
  reset(): void {
    this.#told = '';
    this.#again = undefined;
    this.#held = [];
    this.#messageId = undefined;
  }

  /** @param messageId - of its message, where the agent gives ids: another one without a tool in between is the answer anew (claude-agent-acp). */
  take(text: string, piece: T, messageId: unknown): Passed<T> {
    if (messageId !== undefined && this.#messageId !== undefined && messageId !== this.#messageId) this.beginsAnew();
    this.#messageId = messageId ?? this.#messageId;
    const told = this.#told;
    const at = this.#again;
    if (told === undefined || at === undefined) return this.#new(text, []);
    const left = told.slice(at);
    if (left.startsWith(text)) {
      this.#held.push(piece);
      this.#again = at + text.length;
      if (this.#again === told.length) this.#caughtUp();
      return { before: [], own: 'none' };
    }
    if (left !== '' && text.startsWith(left)) {
      this.#caughtUp();
      return this.#new(text.slice(left.length), [], true);
    }
    const before = this.#held;
    this.#caughtUp();
    this.#told = told.slice(0, at);
    return this.#new(text, before);
  }

  #caughtUp(): void {
    this.#again = undefined;
    this.#held = [];
  }

  #new(text: string, before: readonly T[], isRest = false): Passed<T> {
    const told = this.#told;
    if (told !== undefined) this.#told = told.length + text.length > mostText ? undefined : told + text;
    return { before, own: isRest ? { rest: text } : 'all' };
  }
}
