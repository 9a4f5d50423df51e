import { nearest } from '../policy/nearest.ts';
import { quoted } from './sanitize.ts';

/** The command line was wrong: one line on stderr, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do what was asked, for a reason that is no bug: one line on stderr, exit 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** `Unknown command "evnts"; did you mean events?`, with where to look when nothing is near. */
export function unknown(what: string, word: string, known: readonly string[], help: string): UsageError {
  const guess = nearest(word, known);
  return new UsageError(
    `Unknown ${what} ${quoted(word)}; ${guess === undefined ? `see \`${help}\`` : `did you mean ${guess}?`}`,
  );
}

/** `Unknown value of --retry "sometimes"; it takes safe, always, never`: of few words none is worth looking up. */
export function unknownValue(option: string, word: string, known: readonly string[]): UsageError {
  const guess = nearest(word, known);
  const hint = guess === undefined ? `it takes ${known.join(', ')}` : `did you mean ${guess}?`;
  return new UsageError(`Unknown value of ${option} ${quoted(word)}; ${hint}`);
}
