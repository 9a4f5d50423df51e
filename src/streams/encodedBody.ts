import type { Transform } from 'node:stream';

/** Loaded with the first compressed body. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** By the first byte of a body: `deflate` stands for two formats. */
const decoders: Readonly<Record<string, ((first: number) => Transform) | undefined>> = {
  br: () => zlib().createBrotliDecompress(),
  deflate: (first) => ((first & 0x0f) === 8 ? zlib().createInflate() : zlib().createInflateRaw()),
  gzip: () => zlib().createGunzip(),
  'x-gzip': () => zlib().createGunzip(),
};

/** Watches a compressed body go by, and tells at its end what it lacks. */
export class EncodedBody {
  readonly #encoding: string;
  readonly #onDecoded: ((chunk: Buffer) => void) | undefined;
  #decoder: Transform | undefined = undefined;
  // The encoding of a body without a byte says nothing of it.
  #ended: Promise<NodeJS.ErrnoException | undefined> = Promise.resolve(undefined);
  #isBegun = false;

  /** @param onDecoded - is given what it says. */
  constructor(encoding: string, onDecoded?: (chunk: Buffer) => void) {
    this.#encoding = encoding;
    this.#onDecoded = onDecoded;
  }

  /** @returns undefined for an encoding that is not known. */
  static of(encoding: string, onDecoded?: (chunk: Buffer) => void): EncodedBody | undefined {
    const name = encoding.trim().toLowerCase();
    return decoders[name] === undefined ? undefined : new EncodedBody(name, onDecoded);
  }

  push(chunk: Uint8Array): void {
    const [first] = chunk;
    if (first === undefined) return;
    if (!this.#isBegun) this.#begin(first);
    if (this.#decoder?.destroyed === false) this.#decoder.write(chunk);
  }

  /** No more of it comes. Resolves with undefined for a whole one, with `Z_BUF_ERROR` for one that was cut, or with why it cannot be read. Never rejects. */
  end(): Promise<NodeJS.ErrnoException | undefined> {
    if (this.#decoder?.destroyed === false) this.#decoder.end();
    return this.#ended;
  }

  /** Leaves what it says where it is until `resume`. */
  pause(): void {
    this.#decoder?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
  }

  /** Nobody asks for its end any more. */
  drop(): void {
    this.#decoder?.destroy();
  }

  #begin(first: number): void {
    this.#isBegun = true;
    const decoder = decoders[this.#encoding]?.(first);
    if (decoder === undefined) return;
    this.#decoder = decoder;
    this.#ended = new Promise((resolve) => {
      decoder.once('end', () => resolve(undefined));
      decoder.on('error', resolve);
      decoder.on('data', this.#onDecoded ?? (() => undefined));
    });
  }
}
