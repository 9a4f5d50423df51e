import { readFileSync } from 'node:fs';

/** Longest argument, or variable with its name, Linux takes, in bytes without its terminator (`MAX_ARG_STRLEN`). */
export const longestTextBytes = 131_071;

/** Bytes that Linux grants at least, and at most, for arguments and environment together. */
const leastBytes = 128 * 1024;
const mostBytes = 6 * 1024 * 1024;
/** `ARG_MAX` of macOS, in bytes. */
const darwinBytes = 1024 * 1024;
/** Each text also takes a pointer. */
const pointerBytes = 8;

/** Counts the bytes of the system's limit that arguments and environment take. */
export function commandLineBytes(texts: readonly string[]): number {
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text) + 1 + pointerBytes, 0);
}

/**
 * The system's limit on arguments and environment together, in bytes; infinite where it is not known. On Linux a quarter of the
 * limit on the stack, within bounds. Never throws.
 */
export function commandLineLimit(): number {
  return (known ??= readLimit());
}

let known: number | undefined;

function readLimit(): number {
  if (process.platform === 'darwin') return darwinBytes;
  if (process.platform !== 'linux') return Number.POSITIVE_INFINITY;
  try {
    return stackShare(readFileSync('/proc/self/limits', 'latin1'));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The share of the soft limit on the stack in a `/proc/PID/limits`; infinite when it does not say. */
export function stackShare(limits: string): number {
  const stack = /^Max stack size\s+(?<soft>\d+|unlimited)/m.exec(limits)?.groups?.['soft'];
  if (stack === undefined) return Number.POSITIVE_INFINITY;
  const share = stack === 'unlimited' ? mostBytes : Math.floor(Number(stack) / 4);
  return Math.min(mostBytes, Math.max(leastBytes, share));
}
