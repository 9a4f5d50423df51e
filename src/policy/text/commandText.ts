import { sanitize } from './sanitize.ts';
import { show } from './showValue.ts';

/**
 * Tells whether a text is a program alone. With a space in it, it is most often a command line, which no shell takes apart here; a path may have one, as far
 * as what follows the space does not begin like an argument.
 */
export function isProgram(text: string): boolean {
  const [first = '', ...rest] = text.trim().split(/\s+/);
  if (rest.length === 0) return true;
  return /[\\/]/.test(first) && !rest.some((each) => /^(?:-|\.{0,2}[\\/]|[a-z]:\\)/i.test(each));
}

/** The form of an option that names a program. */
export const programForm = {
  form: isProgram,
  expected:
    'a non-empty string, the program alone: what follows it goes in `args`, as in { command: "node", args: ["server.mjs"] }',
};

/** Tells what is wrong with a program of a command line, undefined when nothing is. @param where - it stands. */
export function programFlaw(command: string, where: string): string | undefined {
  if (isProgram(command)) return undefined;
  const words = sanitize(command);
  const shown = words.length > 60 ? `${words.slice(0, 57)}...` : words;
  return `Expected ${where} to be a program alone, got ${show(shown)}: write its arguments as words of their own, without quotes around all of them: ${shown}`;
}
