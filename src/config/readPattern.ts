import type { TextTest } from '../policy/failures/classify.ts';
import { checkText, show } from '../policy/options/options.ts';
import { type ExpressionText, expressionIn } from '../policy/text/patternText.ts';
import { sanitize } from '../policy/text/sanitize.ts';
import { messageOf } from '../policy/failures/thrown.ts';

/** Flags of JavaScript that mean something for a test; the others of these two change nothing here. */
const flagLetters = { i: 'CASE_INSENSITIVE', m: 'MULTILINE', s: 'DOTALL' } as const;
const idleFlags = 'gu';

/** Characters that make an expression of a text; one without any of these says the same as text. */
const operators = /[\\^$.|?*+()[\]{}]/;

/**
 * Reads a pattern of a configuration: text to be found in any case, which may as well be the source of a regular expression
 * (`gateway closed (1012)` is found as it is, `code \(9[0-9]\)` as an expression in any case); or an expression alone, written
 * `/source/flags`. An expression is matched in time that grows no faster than the text, whatever it is (RE2's syntax, without
 * look-around and back-references), so that no configuration can stop the process. Flags: `i`, `m`, `s`.
 * @param option - where it stands, for errors.
 * @param onWarning - told of a text that is no expression, and is looked for as text only. @defaultValue nobody is told
 * @throws TypeError when it is no text, RangeError that names the option, its value and the reason when what is written `/source/flags`
 * cannot be compiled.
 *
 * @example
 * const transientPatterns = [await readPattern('transientPatterns[0]', '/model .* (warming|loading)/i')];
 */
export async function readPattern(
  option: string,
  text: unknown,
  onWarning: (warning: string) => void = () => undefined,
): Promise<string | TextTest> {
  const found = expressionIn(checkText(option, text));
  const pattern = text as string;
  if (found !== undefined) {
    const expression = await compile(option, pattern, found);
    return shownAs(pattern, (each) => expression.test(each));
  }
  if (!operators.test(pattern)) return pattern;
  try {
    const expression = await compile(option, pattern, { source: pattern, flags: 'i' });
    const plain = pattern.toLowerCase();
    return shownAs(pattern, (each) => each.toLowerCase().includes(plain) || expression.test(each));
  } catch (error) {
    onWarning(asText(error));
    return pattern;
  }
}

/** {@link readPattern} for a file that other programs read too: what cannot be compiled is looked for as text, with a warning. */
export async function readForeignPattern(
  option: string,
  text: unknown,
  onWarning: (warning: string) => void,
): Promise<string | TextTest> {
  try {
    return await readPattern(option, text, onWarning);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    onWarning(asText(error));
    const plain = String(text).toLowerCase();
    return shownAs(String(text), (each) => each.toLowerCase().includes(plain));
  }
}

const asText = (error: unknown): string => `${(error as Error).message}; it is looked for as text`;

/** A pattern that can be shown as it was written. */
function shownAs(text: string, test: TextTest['test']): TextTest {
  return Object.freeze({ test, toString: () => text });
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
  // Loaded only for a configuration with such a pattern: it is a quarter of a megabyte.
  const { RE2JS } = await import('re2js');
  try {
    const bits = Object.entries(flagLetters).filter(([letter]) => flags.includes(letter));
    const compiled = RE2JS.compile(
      RE2JS.translateRegExp(source),
      bits.reduce((sum, [, name]) => sum | RE2JS[name], 0),
    );
    return { test: (each: string) => compiled.test(each) };
  } catch (error) {
    // It quotes the expression as it is, all of it.
    throw refused(sanitize(messageOf(error)).slice(0, 200));
  }
}
