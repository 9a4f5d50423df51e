import type { OutputStream } from '../../machines/subprocessInput.ts';
import type { Sink } from './output.ts';

const newline = 0x0a;

/** Longest line that is held back until it is whole, in bytes; a longer one passes as it is. */
const longestLine = 16 * 1024 * 1024;

/** The output of an agent, whose lines pass one by one. */
export interface JoinedOutput extends Sink {
  /** Passes on what is left of the last line. Waits for a slow reader. */
  end(): Promise<void>;
}

/**
 * Passes the lines of stdout on as `amend` gives them, and all else as it is.
 * @param amend - gives the line itself where there is nothing to amend.
 */
export function joinOutput(sink: Sink, amend: (line: string) => string): JoinedOutput {
  let pieces: Buffer[] = [];
  let held = 0;
  let isPassing = false;

  function pass(end: Buffer): Promise<void> | undefined {
    const whole = pieces.length === 0 ? end : Buffer.concat([...pieces, end]);
    pieces = [];
    held = 0;
    if (isPassing || whole.length === 0) return whole.length === 0 ? undefined : sink.write(whole, 'stdout');
    const text = whole.toString('utf8');
    const line = text.endsWith('\n') ? text.slice(0, -1) : text;
    const amended = amend(line);
    const bytes = amended === line ? whole : Buffer.from(`${amended}${text.slice(line.length)}`);
    return sink.write(bytes, 'stdout');
  }

  return {
    write(chunk: Uint8Array, stream: OutputStream) {
      if (stream !== 'stdout') return sink.write(chunk, stream);
      let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let busy: Promise<void> | undefined;
      for (let at = rest.indexOf(newline); at >= 0; at = rest.indexOf(newline)) {
        busy = pass(rest.subarray(0, at + 1)) ?? busy;
        isPassing = false;
        rest = rest.subarray(at + 1);
      }
      if (rest.length === 0) return busy;
      if (isPassing || held + rest.length > longestLine) {
        isPassing = true;
        return pass(rest) ?? busy;
      }
      pieces.push(Buffer.from(rest));
      held += rest.length;
      return busy;
    },
    async end() {
      await pass(Buffer.alloc(0));
    },
  };
}
