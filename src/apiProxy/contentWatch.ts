import type { Clock } from '../policy/clock.ts';
import type { EventScanner } from './eventScanner.ts';

/** What is held back of a stream until its first event of content, in bytes; one that says nothing in more is passed. */
const mostHeld = 64 * 1024;

/** Watches whether a stream says anything beside that it lives. Until it does, its beginning is held back: another attempt may follow. */
export class ContentWatch {
  readonly #clock: Clock;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #content = 0;
  #since = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Time counts from here on. */
  begin(): void {
    this.#since = this.#clock.now();
  }

  /**
   * Holds a chunk back while there is no content.
   * @param hasWaitedLong - whether the client is to be shown a sign of life.
   * @returns whether the first of the answer is to go to the client now, this chunk included.
   */
  isEnough({ content, mayEnd }: EventScanner, chunk: Buffer, hasWaitedLong: boolean): boolean {
    if (content > 0 || mayEnd || this.#heldBytes + chunk.length > mostHeld || hasWaitedLong) return true;
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    return false;
  }

  /** Holds these back in place of what was. */
  hold(chunks: Buffer[]): void {
    this.#held = chunks;
  }

  /** @returns what was held back; nothing is any more. */
  take(): Buffer[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** @returns whether nothing of content has come for longer than that, in ms. */
  isSilentFor(limitMs: number, { content, mayEnd }: EventScanner): boolean {
    const now = this.#clock.now();
    const isNew = content > this.#content || mayEnd;
    this.#content = content;
    if (isNew) this.#since = now;
    return now - this.#since > limitMs;
  }
}
