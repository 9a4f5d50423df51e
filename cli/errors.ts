import { nearest } from '../src/policy/text/face.ts';
import { quoted } from './sanitize.ts';

/** The command line was wrong: one line on stderr, exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do what was asked, for a reason that is no bug: one line on stderr, exit 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** Tells errors of ours by their names: the command line is built in two parts, each with classes of its own. */
export const isOwnError = (error: unknown, ...names: readonly ('UsageError' | 'CommandError')[]): error is Error =>
  error instanceof Error && names.some((name) => name === error.name);

/**
 * `Unknown command "evnts"; did you mean events?`. When nothing is near, what is known, which of few words none is worth looking up, or where to
 * look.
 * @param help - the command that shows what is known. @defaultValue none: it is listed
 */
export function unknown(what: string, word: string, known: readonly string[], help?: string): UsageError {
  const all = help === undefined ? `it is one of ${known.join(', ')}` : `see \`${help}\``;
  return unknownOr(all, what, word, known);
}

/** `Unknown value of --retry "sometimes"; it takes safe, always, never`: of an option that names its own values. */
function unknownValue(option: string, word: string, known: readonly string[]): UsageError {
  return unknownOr(`it takes ${known.join(', ')}`, `value of ${option}`, word, known);
}

function unknownOr(otherwise: string, what: string, word: string, known: readonly string[]): UsageError {
  const guess = nearest(word, known);
  const hint = guess === undefined ? otherwise : `did you mean ${guess}?`;
  return new UsageError(`Unknown ${what} ${quoted(word)}; ${hint}`);
}

/** Reads a word that has to be a known one, where one is given. @throws {@link UsageError} as {@link unknown} says it. */
export function knownWord<T extends string, W extends string | undefined>(what: string, word: W, known: readonly T[]) {
  return among(word, known, (given) => unknown(what, given, known));
}

/** Reads a value that has to be among those of an option, where one is given. @throws {@link UsageError} that names them. */
export function valueAmong<T extends string, W extends string | undefined>(
  option: string,
  word: W,
  known: readonly T[],
) {
  return among(word, known, (given) => unknownValue(option, given, known));
}

function among<T extends string, W extends string | undefined>(
  word: W,
  known: readonly T[],
  fault: (word: string) => UsageError,
): T | Extract<W, undefined> {
  const given: string | undefined = word;
  const found = known.find((each) => each === given);
  if (word !== undefined && found === undefined) throw fault(word);
  return found as T | Extract<W, undefined>;
}
