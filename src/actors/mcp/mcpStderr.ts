import { stripVTControlCharacters } from 'node:util';
import { createLineSplitter } from '../../protocol/lines.ts';
import { createOutputBuffer } from '../process/outputBuffer.ts';

/** What a server writes to stderr: told line by line, its end kept for messages. */
export interface StderrTail {
  push(chunk: Buffer): void;
  end(): void;
  /** The last of what was written, on one line and bounded; empty when there was nothing. */
  text(): string;
}

const keptBytes = 8192;
const shownCharacters = 1000;
const longestLineBytes = 4096;

/**
 * @param clean - takes out what must not be shown.
 * @param onLine - told every line; one that is too long is left out.
 */
export function createStderrTail(clean: (text: string) => string, onLine: (line: string) => void): StderrTail {
  const buffer = createOutputBuffer({ headBytes: 0, tailBytes: keptBytes });
  const lines = createLineSplitter({
    maxBytes: longestLineBytes,
    onLine: (line) => onLine(plainText(clean(line))),
    onTooLong: () => onLine(`a line of more than ${longestLineBytes} bytes`),
  });
  return {
    push(chunk) {
      buffer.push(chunk);
      lines.push(chunk);
    },
    end: () => lines.end(),
    text() {
      const shown = clean(buffer.text())
        .split('\n')
        .map((line) => plainText(line).trim())
        .filter((line) => line !== '')
        .join(' | ');
      return shown.length > shownCharacters ? `...${shown.slice(-shownCharacters)}` : shown;
    },
  };
}

/** Text without what would steer a terminal. */
export function plainText(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\t\n]/gu, ' ');
}

/** A function that puts the names of variables in place of their values, so that a server cannot print our secrets into messages. */
export function valueHider(env: Readonly<Record<string, string>>): (text: string) => string {
  // A short value (`1`, `en`) is no secret, and would be found everywhere.
  const values = Object.entries(env)
    .filter(([, value]) => value.length >= 6)
    .sort(([, a], [, b]) => b.length - a.length);
  return (text) => values.reduce((hidden, [name, value]) => hidden.replaceAll(value, `[${name}]`), text);
}
