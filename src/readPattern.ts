import type { TextTest } from './policy/classify.ts';
import { checkText, show } from './policy/options.ts';
import { type ExpressionText, expressionIn } from './policy/patternText.ts';

/** Of JavaScript's flags those that mean something for a test; the others of these two change nothing here. */
const flagLetters = { i: 'CASE_INSENSITIVE', m: 'MULTILINE', s: 'DOTALL' } as const;
const idleFlags = 'gu';

/**
 * Reads a pattern of a configuration: text to be found in any case, or a regular expression written `/source/flags`. An expression is
 * matched in time that grows no faster than the text, whatever it is (RE2's syntax, without look-around and back-references), so that no
 * configuration can stop the process. Flags: `i`, `m`, `s`.
 * @param option - where it stands, for errors.
 * @throws TypeError when it is no text, RangeError that names the option, its value and the reason when it cannot be compiled.
 *
 * @example
 * const transientPatterns = [await readPattern('transientPatterns[0]', '/model .* (warming|loading)/i')];
 */
export async function readPattern(option: string, text: unknown): Promise<string | TextTest> {
  const found = expressionIn(checkText(option, text));
  return found === undefined ? (text as string) : compile(option, text as string, found);
}

async function compile(option: string, text: string, { source, flags }: ExpressionText): Promise<TextTest> {
  const refused = (why: string): RangeError =>
    new RangeError(`Expected \`${option}\` to be a regular expression of RE2, got ${show(text)}: ${why}`);
  const wrong = flags.split('').find((flag) => !Object.hasOwn(flagLetters, flag) && !idleFlags.includes(flag));
  if (wrong !== undefined) {
    throw refused(
      `the flag ${wrong} is none of i, m and s; a text that begins and ends so is written /\\/like\\/this/`,
    );
  }
  // Only for who has such a pattern: it is a quarter of a megabyte.
  const { RE2JS } = await import('re2js');
  try {
    const bits = Object.entries(flagLetters).filter(([letter]) => flags.includes(letter));
    const compiled = RE2JS.compile(
      RE2JS.translateRegExp(source),
      bits.reduce((sum, [, name]) => sum | RE2JS[name], 0),
    );
    return Object.freeze({ test: (each: string) => compiled.test(each) });
  } catch (error) {
    // It quotes the expression, all of it.
    throw refused((error instanceof Error ? error.message : String(error)).slice(0, 200));
  }
}
