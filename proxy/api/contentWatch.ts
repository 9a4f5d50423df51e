import type { Clock } from '../../src/policy/face.ts';
import type { LayerWhy } from '../../src/sessions/face.ts';
import type { EventScanner } from './eventScanner.ts';
import type { ApiProxySettings } from './settings.ts';

/** Bytes that are held back of a stream until its first event of content; one that says nothing in more is passed. */
const mostHeld = 64 * 1024;

/** Time in ms that the beginning of an answer that says nothing yet is held back: a client may give up a connection that is silent for a minute. */
const longestHoldMs = 20_000;

/** Limits on the time that a stream may be without content, in ms. */
export type ContentLimits = Pick<ApiProxySettings, 'firstContentMs' | 'contentMs'>;

/** Times of {@link ContentWatch.silence}. */
export interface Silence extends Pick<LayerWhy, 'silentMs' | 'limitInMs'> {}

/** Watches whether a stream says anything beside that it lives. Until it does, its beginning is held back: another attempt may follow. */
export class ContentWatch {
  readonly #clock: Clock;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #said = 0;
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
  isEnough({ said, content, mayEnd }: EventScanner, chunk: Buffer, hasWaitedLong: boolean): boolean {
    if (said > 0 || mayEnd || this.#heldBytes + chunk.length > mostHeld || hasWaitedLong) return true;
    if (content > 0 && this.#clock.now() - this.#since >= longestHoldMs) return true;
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

  /** Time since content came, where any has, and to the end of the limit on it, in ms. */
  silence({ firstContentMs, contentMs }: ContentLimits): Silence {
    const silentMs = this.#clock.now() - this.#since;
    if (this.#said === 0) return { silentMs: undefined, limitInMs: firstContentMs - silentMs };
    return { silentMs, limitInMs: contentMs - silentMs };
  }

  /** @returns the limit that has passed without content, in ms; undefined while none has. */
  passedLimit({ firstContentMs, contentMs }: ContentLimits, { said, mayEnd }: EventScanner): number | undefined {
    const now = this.#clock.now();
    const limitMs = this.#said === 0 ? firstContentMs : contentMs;
    const isNew = said > this.#said || mayEnd;
    this.#said = said;
    if (isNew) this.#since = now;
    return now - this.#since > limitMs ? limitMs : undefined;
  }
}
