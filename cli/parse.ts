import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Args, type Command, commonOptions, type OptionSpec, type OptionSpecs } from './command.ts';
import { unknown, UsageError } from './errors.ts';
import { quoted } from './sanitize.ts';
import { parseDuration } from '../operator/parseDuration.ts';
import { messageOf } from '../src/policy/failures/face.ts';

/** A parsed command line: a request for help, or what the command gets. */
type Parsed<O extends OptionSpecs> =
  | { readonly help: true; readonly json: boolean }
  | { readonly help: false; readonly args: Args<O> };

/**
 * Reads words by the options of a command and the common ones. `--help` wins over every mistake in the other words.
 * @param help - the command line that prints the help, for the error.
 * @param needed - the names of the words that are no options; one in brackets may be missing, one with `...` may come again.
 * @param hint - added to the complaint about one word more.
 * @throws {@link UsageError} that names the option or value, with the nearest known one.
 */
export function parseWords<O extends OptionSpecs>(
  options: O,
  words: readonly string[],
  help: string,
  needed: readonly string[] = [],
  hint = '',
): Parsed<O> {
  const specs: OptionSpecs = { ...options, ...commonOptions };
  const tokens = tokenize(specs, words);
  const given = (option: string) => tokens.some((token) => token.kind === 'option' && token.name === option);
  if (given('help')) return { help: true, json: given('json') };

  const values = Object.fromEntries(Object.entries(specs).map(([option, spec]) => [option, absentValue(spec)]));
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue;
    if (token.kind === 'positional') {
      if (operands.push(token.value) > needed.length && needed.at(-1)?.endsWith('...') !== true)
        throw new UsageError(`Unexpected argument ${quoted(token.value)}${hint}`);
      continue;
    }
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) {
      // A long option written with one dash comes as single letters; the whole word tells more.
      const word = token.inlineValue === true ? token.rawName : (words[token.index] ?? token.rawName);
      const known = Object.keys(specs).map((option) => `--${option}`);
      throw unknown('option', word, known, help);
    }
    const value = valueOf(spec, `--${token.name}`, token.value, token.inlineValue === true);
    const before = values[token.name];
    values[token.name] = Array.isArray(before) ? [...(before as readonly unknown[]), value] : value;
  }
  const missing = needed[operands.length];
  if (missing !== undefined && !missing.startsWith('[')) throw new UsageError(`Missing ${missing}; see \`${help}\``);
  values['operands'] = operands;
  // The specs say which value each option has, in the same table as its type.
  return { help: false, args: values as Args<O> };
}

/** Finds the first word that is neither an option of these nor the value of one; -1 when there is none. */
export function firstOperand(options: OptionSpecs, words: readonly string[]): number {
  const tokens = tokenize({ ...options, ...commonOptions }, words);
  return tokens.find(({ kind }) => kind === 'positional')?.index ?? -1;
}

// Not strict: its own messages are several lines long and know no nearest option.
function tokenize(specs: OptionSpecs, words: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = {};
  for (const [name, spec] of Object.entries(specs)) {
    options[name] = { type: spec.kind === 'flag' ? 'boolean' : 'string' };
    if (spec.kind === 'flag' && spec.short !== undefined) options[name].short = spec.short;
  }
  return parseArgs({ args: [...words], options, strict: false, tokens: true }).tokens;
}

function absentValue(spec: OptionSpec): unknown {
  switch (spec.kind) {
    case 'flag':
      return false;
    case 'count':
      return spec.defaultValue;
    case 'list':
      return [];
    case 'text':
    case 'duration':
      return undefined;
  }
}

function valueOf(spec: OptionSpec, name: string, value: string | undefined, inline: boolean): unknown {
  if (spec.kind === 'flag') {
    if (value !== undefined) throw new UsageError(`Option ${name} takes no value, got ${quoted(value)}`);
    return true;
  }
  // Another option in its place means that the value was forgotten; one that looks so is given as --name=-value.
  if (value === undefined || value === '' || (!inline && /^--?[a-z]/i.test(value))) {
    throw new UsageError(`Option ${name} needs a value`);
  }
  switch (spec.kind) {
    case 'text':
    case 'list':
      return value;
    case 'duration':
      return durationWord(name, value);
    case 'count':
      return countOf(name, value, spec);
  }
}

function countOf(
  name: string,
  value: string,
  { min = 1, max }: { readonly min?: number | undefined; readonly max: number },
): number {
  const count = /^\d+$/.test(value) ? Number(value) : -1;
  if (count >= min && count <= max) return count;
  throw new UsageError(`Expected \`${name}\` to be an integer from ${min} to ${max}, got ${quoted(value)}`);
}

/** A number without a unit, as far as it can be a duration. */
const bareNumber = /^\d{1,12}(?:\.\d{1,6})?$/;

/**
 * A duration as a command line has it, in ms: with a unit (`500ms`, `30s`, `5m`, `1.5h`, `7d`), or a number of seconds, as timeout(1) takes it.
 * @throws {@link UsageError} that names the option and the value.
 */
export function durationWord(option: string, text: string): number {
  try {
    return parseDuration(option, bareNumber.test(text) ? `${text}s` : text);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** The words of the command itself, and those of the command line that it takes. */
export function splitCommand(
  command: Pick<Command, 'options' | 'takesCommand'>,
  words: readonly string[],
): Record<'own' | 'rest', readonly string[]> {
  const end = takesCommand(command) ? words.indexOf('--') : -1;
  if (end >= 0) return { own: words.slice(0, end), rest: words.slice(end + 1) };
  const begin = command.takesCommand === 'bare' ? firstOperand(command.options, words) : -1;
  return begin < 0 ? { own: words, rest: [] } : { own: words.slice(0, begin), rest: words.slice(begin) };
}

export const takesCommand = ({ takesCommand: takes }: Pick<Command, 'takesCommand'>): boolean =>
  (takes ?? false) !== false;

/** @throws {@link UsageError} when it is 0. */
export function aboveZero(option: string, ms: number | undefined): number | undefined {
  if (ms === 0) throw new UsageError(`Expected \`${option}\` to be above 0`);
  return ms;
}
