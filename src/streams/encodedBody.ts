import type { Transform } from 'node:stream';

/** Loaded with the first compressed body. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib');

/** By the first byte of a body: `deflate` stands for two formats. */
const decoders = new Map<string, (first: number) => Transform>([
  ['br', () => zlib().createBrotliDecompress()],
  ['deflate', (first: number) => ((first & 0x0f) === 8 ? zlib().createInflate() : zlib().createInflateRaw())],
  ['gzip', () => zlib().createGunzip()],
  ['x-gzip', () => zlib().createGunzip()],
]);

/** Encodings of one body, one over the other, that are undone; each may make a thousand bytes of one. */
const mostEncodings = 5;

/** Watches a compressed body go by, and tells at its end what it lacks. */
export class EncodedBody {
  /** The outermost. */
  readonly #encoding: string;
  readonly #onDecoded: ((chunk: Buffer) => void) | undefined;
  /** What the outermost leaves, where that is encoded as well. */
  readonly #within: EncodedBody | undefined;
  #decoder: Transform | undefined = undefined;
  // The encoding of a body without a byte says nothing of it.
  #ended: Promise<NodeJS.ErrnoException | undefined> = Promise.resolve(undefined);
  #isBegun = false;

  /** @param encodings - in the order in which they were applied, at least one. @param onDecoded - is given what it says. */
  constructor(encodings: readonly string[], onDecoded?: (chunk: Buffer) => void) {
    const inner = encodings.slice(0, -1);
    const within = inner.length === 0 ? undefined : new EncodedBody(inner, onDecoded);
    this.#encoding = encodings.at(-1) ?? '';
    this.#within = within;
    this.#onDecoded = within === undefined ? onDecoded : (chunk) => within.push(chunk);
  }

  /** @returns undefined where one of its encodings is not known, or there are more than five. */
  static of(encoding: string, onDecoded?: (chunk: Buffer) => void): EncodedBody | undefined {
    const names = encoding.split(',').map((name) => name.trim().toLowerCase());
    const isKnown = names.length <= mostEncodings && names.every((name) => decoders.has(name));
    return isKnown ? new EncodedBody(names, onDecoded) : undefined;
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
    const within = this.#within;
    return within === undefined ? this.#ended : this.#ended.then(async (error) => error ?? within.end());
  }

  /** Leaves what it says where it is until `resume`. */
  pause(): void {
    this.#decoder?.pause();
    this.#within?.pause();
  }

  resume(): void {
    this.#decoder?.resume();
    this.#within?.resume();
  }

  /** Nobody asks for its end any more. */
  drop(): void {
    this.#decoder?.destroy();
    this.#within?.drop();
  }

  #begin(first: number): void {
    this.#isBegun = true;
    const decoder = decoders.get(this.#encoding)?.(first);
    if (decoder === undefined) return;
    this.#decoder = decoder;
    this.#ended = new Promise((resolve) => {
      decoder.once('end', () => resolve(undefined));
      decoder.on('error', resolve);
      decoder.on('data', this.#onDecoded ?? (() => undefined));
    });
  }
}
