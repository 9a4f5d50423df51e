import type { z } from 'zod';
import { nearest } from '../policy/nearest.ts';
import { show } from '../policy/options.ts';
import { isSecret, keyOfVariable, knownKeysAt, nodeAt } from './keys.ts';
import type { Position, RepeatedKey } from './jsonPositions.ts';
import { type ConfigProblem, type ConfigSource, pathText } from './problems.ts';

type Path = readonly (string | number)[];

/** How problems of one source are told. */
export interface Teller {
  readonly source: ConfigSource;
  /** How the source is named at the beginning of a line. */
  readonly name: string;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
  /** Where a key is in the text of the source. */
  readonly locate?: ((path: Path) => Position | undefined) | undefined;
  /** What comes before the paths in this source. */
  readonly prefix?: readonly string[] | undefined;
}

/** One thing that a parse found. */
export interface Finding {
  readonly path: Path;
  readonly what: 'wrong' | 'missing' | 'unknown';
  readonly choices?: readonly unknown[] | undefined;
  readonly message: string;
}

/** What a parse of `value` found, one finding a key. */
export function findingsOf(error: z.core.$ZodError | undefined, value: unknown): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const finding of (error?.issues ?? []).flatMap((issue) => flat(issue, []))) {
    const isMissing = finding.what === 'wrong' && valueAt(value, finding.path) === undefined;
    const key = JSON.stringify(finding.path);
    // The first says what it is not; what it is not besides follows from that.
    if (!found.has(key)) found.set(key, isMissing ? { ...finding, what: 'missing' } : finding);
  }
  return [...found.values()];
}

/** One issue a key; of a choice between objects, what is wrong with the one that was meant. */
function flat(issue: z.core.$ZodIssue, base: Path): Finding[] {
  const path = [...base, ...(issue.path as Path)];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], what: 'unknown', message: '' }));
  }
  // The name is wrong, whatever goes under it.
  if (issue.code === 'invalid_key') return [{ path, what: 'unknown', message: '' }];
  if (issue.code !== 'invalid_union') return [{ path, what: 'wrong', message: issue.message }];
  const objects = issue.errors.filter((errors) =>
    errors.every((each) => each.path.length > 0 || each.code === 'unrecognized_keys'),
  );
  // Of several, the one that knows most of the keys.
  const [meant] = [...objects].sort((one, other) => unknownIn(one) - unknownIn(other));
  if (meant !== undefined) return meant.flatMap((each) => flat(each, path));
  const { options } = issue as { readonly options?: readonly unknown[] };
  return [{ path, what: 'wrong', choices: options, message: issue.message }];
}

function unknownIn(errors: readonly z.core.$ZodIssue[]): number {
  return errors.reduce((sum, each) => sum + (each.code === 'unrecognized_keys' ? each.keys.length : 0), 0);
}

/** A finding as a problem. */
export function problemOf({ path, what, choices, message }: Finding, value: unknown, teller: Teller): ConfigProblem {
  if (what === 'unknown') return unknownKey(path, teller);
  const isSwitch = teller.source.from === 'environment' && nodeAt(path)?.anyOf?.some((each) => each.const === false);
  const usual = isSwitch === true ? 'false' : (nodeAt(path)?.expected ?? message);
  const expected = choices === undefined ? usual : `one of ${choices.join(', ')}`;
  return wrongValue(path, valueAt(value, path), expected, teller);
}

/** What is wrong with a file as a whole. */
export function fileProblem(text: string, teller: Teller): ConfigProblem {
  const whole = { ...teller, prefix: [] };
  return problem([], undefined, text.replace(/^expected /, ''), whole.hide(text), whole);
}

/** A value that is not what was expected, or is not there. */
export function wrongValue(path: Path, value: unknown, expected: string, teller: Teller): ConfigProblem {
  const shown = value === undefined ? undefined : shownValue(path, value, teller.hide);
  return problem(path, shown, expected, `expected ${expected}, got ${shown ?? 'nothing'}`, teller);
}

/** What one of the checks of the runtime says of values that are right each on its own. */
export function contradiction(
  path: Path,
  value: unknown,
  expected: string,
  text: string,
  teller: Teller,
): ConfigProblem {
  const shown = value === undefined ? undefined : shownValue(path, value, teller.hide);
  return problem(path, shown, expected, teller.hide(text), teller);
}

/** A key that is given more than once, of which all but the last are lost. */
export function repeatedKey({ path, first, last }: RepeatedKey, teller: Teller): ConfigProblem {
  const text = `expected to be given once, is at ${first.line}:${first.column} too`;
  return problem(path, undefined, 'to be given once', text, { ...teller, locate: () => last });
}

function unknownKey(path: Path, teller: Teller): ConfigProblem {
  const known = knownKeysAt(path.slice(0, -1)).filter((key) => key !== '$schema');
  const close = nearest(String(path.at(-1)), known);
  const others = known.length === 0 ? 'choose another name' : `known: ${known.join(', ')}`;
  const hint = close === undefined ? others : `did you mean ${close}?`;
  const { name, prefix = [], source, locate, hide } = teller;
  const text = hide(pathText([...prefix, ...path]));
  const at = locate?.(path);
  const expected = `one of ${known.join(', ')}`;
  return {
    path: text,
    value: undefined,
    expected,
    source,
    at,
    message: `${name}${place(at)}: unknown key ${text}; ${hint}`,
  };
}

function problem(path: Path, value: string | undefined, expected: string, text: string, teller: Teller): ConfigProblem {
  const { name, prefix = [], source, locate, hide } = teller;
  const where = hide(pathText([...prefix, ...path]));
  const at = locate?.(path);
  const key = where === '' || isKeyOf(source, path) ? '' : `${where}: `;
  return {
    path: where,
    value,
    expected,
    source,
    at,
    message: `${name}${place(at)}: ${key}${text.replaceAll(/\s+/g, ' ')}`,
  };
}

/** A variable says which key it is; what is wrong beside that key is named. */
function isKeyOf(source: ConfigSource, path: Path): boolean {
  if (source.from !== 'environment') return false;
  return pathText(keyOfVariable(source.variable)?.path ?? []) === pathText(path);
}

function place(at: ConfigProblem['at']): string {
  return at === undefined ? '' : `:${at.line}:${at.column}`;
}

/** Short, and of a secret only what it is. */
function shownValue(path: Path, value: unknown, hide: (text: string) => string): string {
  if (!isSecret(path) || typeof value === 'object') return hide(show(value));
  return `a ${typeof value} that is not shown`;
}

export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Readonly<Record<string | number, unknown>>)[key];
  }
  return current;
}
