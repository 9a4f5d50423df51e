/** Pieces up to this, in bytes together, are joined; to copy more costs as much as to write it in several pieces. */
const mostJoined = 64 * 1024;

/** Tells whether a piece ends with the first line that ends in it: that need not wait for others. */
export const isOneLine = (piece: Buffer): boolean => piece.indexOf(0x0a) === piece.length - 1;

/**
 * Lines on their way into a stream. Those that are written while it gathers are handed on together: lines that stood one behind the other where they
 * came from as the one piece they were, others joined.
 */
export class GatheredLines {
  readonly #handOn: (piece: string | Uint8Array) => void;
  #gathering = 0;
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** The first of the last lines that lie one behind the other, and where the last of them ends in its buffer. */
  #first: Uint8Array | undefined = undefined;
  #end = 0;

  constructor(handOn: (piece: string | Uint8Array) => void) {
    this.#handOn = handOn;
  }

  /** Number of bytes that have not been handed on. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param line - its end included. */
  write(line: string | Uint8Array): void {
    if (this.#gathering === 0) {
      this.#handOn(line);
      return;
    }
    const bytes = typeof line === 'string' ? Buffer.from(line) : line;
    this.#bytes += bytes.byteLength;
    if (this.#first?.buffer !== bytes.buffer || this.#end !== bytes.byteOffset) {
      this.#endRun();
      this.#first = bytes;
    }
    this.#end = bytes.byteOffset + bytes.byteLength;
  }

  /** Gathers until every caller has called the function it got. */
  gather(): () => void {
    this.#gathering++;
    return this.#release;
  }

  flush(): void {
    this.#endRun();
    const pieces = this.#pieces;
    const bytes = this.#bytes;
    if (bytes === 0) return;
    this.#pieces = [];
    this.#bytes = 0;
    if (pieces.length > 1 && bytes <= mostJoined) this.#handOn(Buffer.concat(pieces, bytes));
    else for (const piece of pieces) this.#handOn(piece);
  }

  readonly #release = (): void => {
    if (--this.#gathering === 0) this.flush();
  };

  #endRun(): void {
    const first = this.#first;
    if (first === undefined) return;
    this.#first = undefined;
    const length = this.#end - first.byteOffset;
    this.#pieces.push(length === first.byteLength ? first : Buffer.from(first.buffer, first.byteOffset, length));
  }
}
