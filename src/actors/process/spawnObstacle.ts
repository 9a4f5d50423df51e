import { readFileSync } from 'node:fs';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { show } from '../../policy/options/options.ts';
import type { Executable } from './limitMark.ts';

/** Command that is to be started. */
type CommandLine = Pick<Executable, 'command'> & { readonly [K in 'args' | 'cwd' | 'env']?: Executable[K] | undefined };

/** A part of the command line, and what it is called where the text itself is not to be shown. */
type Part = readonly [name: string, text: string];

/** Finds a known reason for the start to fail: a null byte, or a command line that is too long. Shows no value of a variable. */
export function spawnObstacle({ command, args = [], cwd = '', env = {} }: CommandLine): FailureFacts | undefined {
  const words = args.map((text, index): Part => [`argument ${index + 1}`, text]);
  const variables = Object.entries(env)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): Part => [`the variable ${show(name)}`, `${name}=${value}`]);
  const parts = [['the command', command], ['the working directory', cwd], ...words, ...variables] as const;

  const holder = parts.find(([, text]) => text.includes('\0'));
  if (holder !== undefined) {
    const message = `Cannot start ${show(command)}: ${holder[0]} cannot hold a null byte`;
    return { kind: 'spawn', code: 'ERR_INVALID_ARG_VALUE', message, outcome: 'not_started' };
  }
  return tooLong(command, [...words, ...variables]);
}

function tooLong(command: string, parts: readonly Part[]): FailureFacts | undefined {
  const longest = process.platform === 'linux' ? longestTextBytes : Number.POSITIVE_INFINITY;
  const long = parts.find(([, text]) => Buffer.byteLength(text) > longest);
  if (long !== undefined) {
    return tooBig(command, `${long[0]} has ${Buffer.byteLength(long[1])} bytes`, longest);
  }
  const bytes = commandLineBytes([command, ...parts.map(([, text]) => text)]);
  const limit = commandLineLimit();
  return bytes > limit ? tooBig(command, `arguments and environment take ${bytes} bytes together`, limit) : undefined;
}

function tooBig(command: string, what: string, limit: number): FailureFacts {
  const message = `Cannot start ${show(command)}: ${what}; at most ${limit} are allowed (E2BIG)`;
  return { kind: 'spawn', code: 'E2BIG', message, outcome: 'not_started' };
}

/** Longest argument, or variable with its name, Linux takes, in bytes without its terminator (`MAX_ARG_STRLEN`). */
const longestTextBytes = 131_071;

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
