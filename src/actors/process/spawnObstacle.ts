import type { FailureFacts } from '../../policy/failure.ts';
import { show } from '../../policy/options.ts';
import { commandLineBytes, commandLineLimit, longestTextBytes } from './commandLineLimit.ts';

/** Command that is to be started. */
export interface CommandLine {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** The whole environment of the child. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

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
