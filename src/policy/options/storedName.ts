import { name as anyName } from './optionKeys.ts';
import { readValue } from './readOptions.ts';
import { show } from '../text/showValue.ts';

/** The most bytes of UTF-8 in a name. Two of them have to fit into one entry of an index of PostgreSQL, which takes 2,704 bytes. */
export const maxNameBytes = 1_024;

/**
 * Reads a name by which something is found again in a store: the id of a session, the key of a message, the name of an integration. It is
 * the same on every engine, so that a gateway may move from one to another.
 * @param option - names it in errors.
 * @throws TypeError when it is no string.
 * @throws RangeError when it is empty, longer than {@link maxNameBytes}, or holds NUL or half of a surrogate pair.
 */
export function readStoredName(option: string, value: unknown): string {
  const name = readValue(option, value, anyName);
  // PostgreSQL has no NUL, and UTF-8 no lone surrogate. A store has U+FFFD for both, by which two names would become one.
  if (name.includes('\0') || !name.isWellFormed()) {
    throw new RangeError(`Expected \`${option}\` to be well-formed Unicode without NUL, got ${show(name)}`);
  }
  const bytes = Buffer.byteLength(name);
  if (bytes > maxNameBytes) {
    throw new RangeError(
      `Expected \`${option}\` to have at most ${maxNameBytes} bytes of UTF-8, got ${bytes}: ${show(name)}`,
    );
  }
  return name;
}
