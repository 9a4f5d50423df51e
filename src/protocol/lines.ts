/** Options for the lines of a byte stream that is passed on. */
interface ByteLinesOptions {
  /** Longest line, in bytes without its end. */
  readonly maxBytes: number;
  /** Gets every line as its bytes came, its end included; a last line without one gets it. */
  readonly onLine: (line: Buffer) => void;
  /** Told once for each line that is too long, with its first bytes; the others are not kept. */
  readonly onTooLong: (head: Buffer) => void;
}

interface LineSplitterOptions extends Pick<ByteLinesOptions, 'maxBytes' | 'onTooLong'> {
  /** Gets every line without its end, `\n` or `\r\n`; the bytes are UTF-8. */
  readonly onLine: (line: string) => void;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const lineEnd = Buffer.from('\n');
/** Part that is kept of a line that is too long, in bytes: enough to find the id in it. */
const keptOfTooLong = 4096;
/** A piece below this, in bytes, costs more than what it holds; so many of them in a row are joined. */
const smallPiece = 256;
const mostSmallPieces = 256;

/** Cuts a byte stream into lines of text. */
export function createLineSplitter({ onLine, ...options }: LineSplitterOptions) {
  return createByteLines({
    ...options,
    onLine: (line) => onLine(line.toString('utf8', 0, line.length - (line.at(-2) === carriageReturn ? 2 : 1))),
  });
}

/** Cuts a byte stream into lines without touching their bytes, in time and memory linear in the longest line. */
export function createByteLines({ maxBytes, onLine, onTooLong }: ByteLinesOptions) {
  // Pieces are joined once, when the line is complete: joining at every chunk costs the square of the line's length.
  let pieces: Buffer[] = [];
  let bytes = 0;
  let small = 0;
  let skipping = false;

  const keep = (piece: Buffer, ends: number): void => {
    if (skipping || piece.length === 0) return;
    bytes += piece.length;
    pieces.push(piece);
    if (bytes - ends > maxBytes) {
      skipping = true;
      const head = Buffer.concat(pieces, Math.min(bytes, keptOfTooLong));
      pieces = [];
      onTooLong(head);
      return;
    }
    small = piece.length < smallPiece ? small + 1 : 0;
    if (small === mostSmallPieces) {
      pieces.push(Buffer.concat(pieces.splice(-small)));
      small = 0;
    }
  };

  const complete = (): void => {
    const [first] = pieces;
    const line =
      skipping || first === undefined ? undefined : pieces.length === 1 ? first : Buffer.concat(pieces, bytes);
    pieces = [];
    bytes = 0;
    small = 0;
    skipping = false;
    if (line !== undefined) onLine(line);
  };

  return {
    push(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        const line = at + 1 - from === chunk.length ? chunk : chunk.subarray(from, at + 1);
        // Most lines come whole: there is nothing to put together.
        if (bytes === 0 && line.length - 1 <= maxBytes) onLine(line);
        else {
          keep(line, 1);
          complete();
        }
        from = at + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from), 0);
    },
    /** The stream has ended: what is left is the last line. */
    end(): void {
      if (bytes === 0) return;
      keep(lineEnd, 1);
      complete();
    },
  };
}
