import type { ServerResponse } from 'node:http';

/** Hands the bytes of an answer to the client. What comes by one read of the socket is written at once: events that come one by one do not wait. */
export class ClientWriter {
  readonly #response: ServerResponse;
  readonly #full: () => void;
  #passing: Buffer[] = [];

  /** @param full - told when the client is slow: nothing more is to be read for it before `drain`. */
  constructor(response: ServerResponse, full: () => void) {
    this.#response = response;
    this.#full = full;
  }

  pass(chunk: Buffer): void {
    if (this.#passing.push(chunk) === 1) process.nextTick(this.flush);
  }

  // Bound once for all chunks.
  readonly flush = (): void => {
    const chunks = this.#passing;
    const [first] = chunks;
    if (first === undefined) return;
    this.#passing = [];
    if (!this.#response.write(chunks.length === 1 ? first : Buffer.concat(chunks))) this.#full();
  };
}
