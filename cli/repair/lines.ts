import { CommandError } from '../errors.ts';
import type { Source } from './draft.ts';

/** Longest line; longer ones do not become one string. */
const maxLineBytes = 128 * 1024 * 1024;
const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/**
 * Gives each line of a file without its end, and where it starts. Holds one line at a time.
 * @throws {@link CommandError} when a line is too long; the reason of `signal` when it is aborted.
 */
export async function readLines(
  { handle, path, size, signal }: Source,
  onLine: (line: string, start: number) => void,
): Promise<void> {
  const chunk = Buffer.alloc(chunkBytes);
  let pieces: Buffer[] = [];
  let held = 0;
  let start = 0;
  let count = 0;
  const complete = (piece: Buffer): void => {
    count++;
    const line = held === 0 ? piece : Buffer.concat([...pieces, piece]);
    onLine(line.toString('utf8'), start);
    pieces = [];
    held = 0;
  };

  for (let at = 0; at < size; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunkBytes, size - at), at);
    if (bytesRead === 0) break;
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0 && end < bytesRead; end = chunk.indexOf(newline, from)) {
      complete(chunk.subarray(from, end));
      from = end + 1;
      start = at + from;
    }
    if (from < bytesRead) {
      pieces.push(Buffer.from(chunk.subarray(from, bytesRead)));
      held += bytesRead - from;
      if (held > maxLineBytes) {
        throw new CommandError(`Line ${count + 1} of ${path} is longer than ${maxLineBytes} bytes.`);
      }
    }
    at += bytesRead;
  }
  if (held > 0) complete(Buffer.alloc(0));
}
