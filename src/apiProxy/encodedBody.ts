import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const decoders: Readonly<Record<string, (() => Transform) | undefined>> = {
  br: createBrotliDecompress,
  deflate: createInflate,
  gzip: createGunzip,
  'x-gzip': createGunzip,
};

/** Watches a compressed body go by, and tells at its end whether all of it was there. */
export class EncodedBody {
  readonly #decoder: Transform;
  readonly #ended: Promise<boolean>;
  #isEmpty = true;

  /** @param onDecoded - is given what it says. */
  constructor(decoder: Transform, onDecoded: (chunk: Buffer) => void) {
    this.#decoder = decoder;
    this.#ended = new Promise((resolve) => {
      decoder.once('end', () => resolve(true));
      // Of a body that cannot be read nobody knows whether it is whole.
      decoder.on('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'Z_BUF_ERROR'));
      decoder.on('data', onDecoded);
    });
  }

  /** @returns undefined for an encoding that is not known. */
  static of(encoding: string, onDecoded: (chunk: Buffer) => void): EncodedBody | undefined {
    const decoder = decoders[encoding.trim().toLowerCase()]?.();
    return decoder === undefined ? undefined : new EncodedBody(decoder, onDecoded);
  }

  push(chunk: Buffer): void {
    this.#isEmpty = false;
    if (!this.#decoder.destroyed) this.#decoder.write(chunk);
  }

  /** No more of it comes. Resolves with whether it was whole. Never rejects. */
  end(): Promise<boolean> {
    // Of an answer without a body its encoding says nothing.
    if (this.#isEmpty) return Promise.resolve(true);
    if (!this.#decoder.destroyed) this.#decoder.end();
    return this.#ended;
  }

  /** Nobody asks for its end any more. */
  drop(): void {
    this.#decoder.destroy();
  }
}
