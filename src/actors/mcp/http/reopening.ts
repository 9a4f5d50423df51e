import type { Clock, Random, Timer } from '../../../policy/clock.ts';

/** The waits between two openings of a stream that has no natural end, in ms. */
const firstMs = 1000;
const longestMs = 30_000;
/** Time in ms that a stream has to live for the waits to begin anew. */
const livesMs = 30_000;
/** Share by which a wait may get longer, so that those whose server was restarted do not all come back at once. */
const spread = 0.25;

/** Times at which a standing stream is opened again: a server that ends it at once, and asks to be called at once, is not stormed. */
export class Reopening {
  readonly #clock: Clock;
  readonly #random: Random;
  #tries = 0;
  #openedAt: number | undefined = undefined;
  #waiting: { readonly timer: Timer; readonly done: () => void } | undefined = undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The stream stands. */
  opened(): void {
    this.#openedAt = this.#clock.now();
  }

  /** Resolves when it may be opened again, or with `stop`. @param retryMs - what the server asked for: it may be longer, never shorter. */
  async wait(retryMs: number | undefined): Promise<void> {
    const livedMs = this.#openedAt === undefined ? 0 : this.#clock.now() - this.#openedAt;
    this.#openedAt = undefined;
    if (livedMs >= livesMs) this.#tries = 0;
    const ownMs = Math.min(longestMs, firstMs * 2 ** this.#tries);
    this.#tries++;
    const delayMs = Math.min(Math.max(ownMs, retryMs ?? 0), 10 * longestMs) * (1 + spread * this.#random());
    await new Promise<void>((resolve) => {
      this.#waiting = { timer: this.#clock.setTimeout(resolve, delayMs), done: resolve };
    });
    this.#waiting = undefined;
  }

  stop(): void {
    this.#clock.clearTimeout(this.#waiting?.timer);
    this.#waiting?.done();
  }
}

/** Time in ms that a stream may be silent: servers that send comments send one every 15 s, others need not say anything. */
const commentedMs = 30_000;
const uncommentedMs = 300_000;

/** Notices that a standing stream brings nothing any more, not even the comments it used to bring: its connection may be half-open. */
export class QuietWatch {
  readonly #clock: Clock;
  readonly #quiet: () => void;
  #heardAt: number;
  #hasComments = false;
  #timer: Timer | undefined = undefined;

  constructor(clock: Clock, quiet: () => void) {
    this.#clock = clock;
    this.#quiet = quiet;
    this.#heardAt = clock.now();
    this.#arm();
  }

  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  commented(): void {
    if (this.#hasComments) return;
    this.#hasComments = true;
    this.#arm();
  }

  stop(): void {
    this.#clock.clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#clock.clearTimeout(this.#timer);
    const limitMs = this.#hasComments ? commentedMs : uncommentedMs;
    const leftMs = this.#heardAt + limitMs - this.#clock.now();
    this.#timer = this.#clock.setTimeout(
      () => {
        if (this.#heardAt + limitMs <= this.#clock.now()) this.#quiet();
        else this.#arm();
      },
      Math.max(0, leftMs),
      { running: true },
    );
  }
}
