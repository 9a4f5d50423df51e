import { stripVTControlCharacters } from 'node:util';
import type { Clock } from '../../policy/clock.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import { createOutputBuffer, type OutputBuffer } from '../process/outputBuffer.ts';

/** Stderr of a server: told line by line, its end kept for messages. */
export type StderrTail = ReturnType<typeof createStderrTail>;

const keptBytes = 8192;
const shownCharacters = 1000;
const longestLineBytes = 4096;

/**
 * @param clock - says when all that was written before a moment has been read.
 * @param clean - takes out what must not be shown.
 * @param onLine - told every line; one that is too long is left out.
 */
export function createStderrTail(
  clock: Pick<Clock, 'nextTurn'>,
  clean: (text: string) => string,
  onLine: (line: string) => void,
) {
  const all = tailBuffer();
  let isUp = false;
  let sinceUp: OutputBuffer | undefined;
  const lines = createLineSplitter({
    maxBytes: longestLineBytes,
    onLine: (line) => onLine(plainText(clean(line))),
    onTooLong: () => onLine(`a line of more than ${longestLineBytes} bytes`),
  });
  return {
    push(chunk: Buffer): void {
      all.push(chunk);
      sinceUp?.push(chunk);
      lines.push(chunk);
    },
    end: () => lines.end(),
    /** The server is up: what it has written until now tells of its start, and nothing of its end. Only the first time counts. */
    up(): void {
      if (isUp) return;
      isUp = true;
      // Output from before its answer may still be in the other pipe.
      clock.nextTurn(() => {
        sinceUp = tailBuffer();
      });
    },
    /** The last of what was written, on one line and bounded; empty when there was nothing. */
    text: (): string => shown(all),
    /** The same of what was written since the server is up; of all, while it is not. */
    lastWords: (): string => shown(sinceUp ?? all),
  };

  function shown(buffer: OutputBuffer): string {
    const line = clean(buffer.text())
      .split('\n')
      .map((each) => plainText(each).trim())
      .filter((each) => each !== '')
      .join(' | ');
    return line.length > shownCharacters ? `...${line.slice(-shownCharacters)}` : line;
  }
}

function tailBuffer(): OutputBuffer {
  return createOutputBuffer({ headBytes: 0, tailBytes: keptBytes });
}

/** Text without what would steer a terminal. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\t\n]/gu, ' ');
}
