/** Options for the lines of a byte stream. */
interface LineSplitterOptions {
  /** Longest line, in bytes without its end. */
  readonly maxBytes: number;
  /** Gets every line without its end, `\n` or `\r\n`; the bytes are UTF-8. */
  readonly onLine: (line: string) => void;
  /** Told once for each line that is too long; its bytes are not kept. */
  readonly onTooLong: () => void;
}

const newline = 0x0a;
/** A piece below this, in bytes, costs more than what it holds; so many of them in a row are joined. */
const smallPiece = 256;
const mostSmallPieces = 256;

/** Cuts a byte stream into lines, in time and memory linear in the longest line. */
export function createLineSplitter({ maxBytes, onLine, onTooLong }: LineSplitterOptions) {
  // Pieces are joined once, when the line is complete: joining at every chunk costs the square of the line's length.
  let pieces: Buffer[] = [];
  let bytes = 0;
  let small = 0;
  let skipping = false;

  const keep = (piece: Buffer): void => {
    if (skipping || piece.length === 0) return;
    bytes += piece.length;
    if (bytes <= maxBytes) {
      pieces.push(piece);
      small = piece.length < smallPiece ? small + 1 : 0;
      if (small === mostSmallPieces) {
        pieces.push(Buffer.concat(pieces.splice(-small)));
        small = 0;
      }
      return;
    }
    skipping = true;
    pieces = [];
    onTooLong();
  };

  const complete = (): void => {
    const line = skipping ? undefined : Buffer.concat(pieces, bytes).toString('utf8');
    pieces = [];
    bytes = 0;
    small = 0;
    skipping = false;
    if (line !== undefined) onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
  };

  return {
    push(chunk: Buffer): void {
      let from = 0;
      for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
        keep(chunk.subarray(from, at));
        complete();
        from = at + 1;
      }
      keep(chunk.subarray(from));
    },
    /** The stream has ended: what is left is the last line. */
    end(): void {
      if (bytes > 0) complete();
    },
  };
}
