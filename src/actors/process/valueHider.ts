import { isPlainWord } from '../../policy/text/plainWord.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';

/** Variables that are given to one child. */
type Variables = Readonly<Record<string, string | undefined>>;

/** A short value (`1`, `en`) is no secret, and would be found everywhere. */
const shortest = 6;

/** A function that puts the names of variables in place of their values, so that a child cannot print our secrets into messages. */
export function valueHider(env: Variables): (text: string) => string {
  const values = Object.entries(env)
    .filter((entry): entry is [string, string] => isHidden(entry[1]))
    .sort(([, a], [, b]) => b.length - a.length);
  return (text) => values.reduce((hidden, [name, value]) => hidden.replaceAll(value, `[${name}]`), text);
}

const isHidden = (value: string | undefined): boolean =>
  value !== undefined && value.length >= shortest && !isPlainWord(value);

/** Gives what became of a child, without the values of the variables that it was given. */
export function withoutValues(facts: FailureFacts, env: Variables | undefined): FailureFacts {
  if (env === undefined) return facts;
  const message = valueHider(env)(facts.message);
  return message === facts.message ? facts : { ...facts, message };
}
