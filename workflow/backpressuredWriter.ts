import type { Writable } from 'node:stream';

/** Writes to a stream no faster than its reader takes it. That the reader goes ends the writing, and throws nowhere. */
export class BackpressuredWriter {
  readonly #stream: Writable;
  readonly #onGone: () => void;
  #gone = false;
  #full = false;
  #isEnding = false;
  #finished = false;
  #unwritten = 0;
  #wake: (() => void) | undefined;

  /** @param onGone - told once when the reader is gone; also at once. */
  constructor(stream: Writable, onGone: () => void) {
    this.#stream = stream;
    this.#onGone = onGone;
    stream.on('error', this.#leave);
    stream.on('close', this.#closed);
    stream.on('drain', this.#drained);
    stream.on('finish', this.#finish);
    if (stream.destroyed || stream.writableEnded || stream.errored) this.#leave();
    if (stream.closed) this.#forget();
  }

  get gone(): boolean {
    return this.#gone;
  }

  /** True while it takes more. */
  get hasRoom(): boolean {
    return !this.#gone && !this.#full && !this.#stream.writableEnded;
  }

  /** Writes without waiting. @returns false when the reader is gone. */
  put(text: string): boolean {
    this.attempt((stream) => {
      if (stream.writableEnded) return this.#leave();
      this.#unwritten++;
      this.#full = !stream.write(text, this.#written);
    });
    return !this.#gone;
  }

  /** Resolves when the stream takes more, or the reader is gone. Never rejects. */
  room(): Promise<void> {
    return this.#until(() => !this.#full);
  }

  /** Ends the stream. Resolves when all was handed on, or the reader is gone. Never rejects. */
  async end(): Promise<void> {
    this.#isEnding = true;
    this.attempt((stream) => stream.end());
    await this.#until(() => this.#finished);
  }

  /** Leaves the stream open, to others. Resolves when all was handed on, or the reader is gone. Never rejects. */
  async release(): Promise<void> {
    await this.#until(() => this.#unwritten === 0);
    // The error of a stream that failed may be yet to come.
    if (!this.#gone) this.#forget();
  }

  /** Takes the reader for gone, and the stream from it. */
  abandon(): void {
    this.attempt((stream) => stream.destroy());
    this.#leave();
  }

  /** Does something with the stream; where that throws there is no reader. */
  attempt(action: (stream: Writable) => void): void {
    if (this.#gone) return;
    try {
      action(this.#stream);
    } catch {
      this.#leave();
    }
  }

  readonly #leave = (): void => {
    if (this.#gone || this.#finished) return;
    this.#gone = true;
    this.#forgetRoom();
    this.#wake?.();
    this.#onGone();
  };

  readonly #closed = (): void => {
    this.#leave();
    this.#forget();
  };

  readonly #drained = (): void => {
    this.#full = false;
    this.#wake?.();
  };

  readonly #finish = (): void => {
    // Ended by somebody else: what comes would reach nobody.
    if (!this.#isEnding) return this.#leave();
    this.#finished = true;
    this.#wake?.();
  };

  readonly #written = (): void => {
    this.#unwritten--;
    this.#wake?.();
  };

  #until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        if (!this.#gone && !holds()) return;
        this.#wake = undefined;
        resolve();
      };
      this.#wake();
    });
  }

  /** Errors are heard until the stream has closed: nobody else may. */
  #forgetRoom(): void {
    this.#stream.off('drain', this.#drained);
    this.#stream.off('finish', this.#finish);
  }

  #forget(): void {
    this.#forgetRoom();
    this.#stream.off('error', this.#leave);
    this.#stream.off('close', this.#closed);
  }
}
