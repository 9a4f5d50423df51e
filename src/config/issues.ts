import { gotText, hintOf, type OptionProblem, type Path, pathText } from '../policy/options/optionProblem.ts';
import type { Position, RepeatedKey } from './jsonPositions.ts';
import { isSwitch, keyAt, keyOfVariable } from './keys.ts';
import type { ConfigProblem, ConfigSource } from './problems.ts';

/** Means to tell the problems of one source. */
export interface Teller {
  readonly source: ConfigSource;
  /** Name of the source at the beginning of a line. */
  readonly name: string;
  /** Takes secrets out of a text. */
  readonly hide: (text: string) => string;
  /** Finds the position of a key in the text of the source. */
  readonly locate?: ((path: Path) => Position | undefined) | undefined;
  /** Prefix of the paths in this source. */
  readonly prefix?: readonly string[] | undefined;
}

/** Tells a finding of a reading as a problem. */
export function toldProblem(found: OptionProblem, teller: Teller): ConfigProblem {
  const { path, what, value, says, isDefault } = found;
  if (what === 'unknown') return unknownKey(found, teller);
  const hint = hintOf(found);
  const key = keyAt(path);
  const isOnlySwitch = teller.source.from === 'environment' && key !== undefined && isSwitch(key);
  const expected = isOnlySwitch ? 'false' : (says ?? found.expected);
  const shown = value === undefined || isDefault === true ? undefined : teller.hide(gotText(found));
  const got = says === undefined ? `, got ${value === undefined ? 'nothing' : teller.hide(gotText(found))}` : '';
  const text = `expected ${teller.hide(expected)}${got}${hint === undefined ? '' : `; ${hint}`}`;
  return problem(path, shown, expected, text, teller);
}

/** Makes the problem of a file as a whole. */
export function fileProblem(text: string, teller: Teller): ConfigProblem {
  const whole = { ...teller, prefix: [] };
  return problem([], undefined, text.replace(/^expected /, ''), whole.hide(text), whole);
}

/** A key that is given more than once, of which all but the last are lost. */
export function repeatedKey({ path, first, last }: RepeatedKey, teller: Teller): ConfigProblem {
  const text = `expected to be given once, is at ${first.line}:${first.column} too`;
  return problem(path, undefined, 'to be given once', text, { ...teller, locate: () => last });
}

function unknownKey(found: OptionProblem, teller: Teller): ConfigProblem {
  const { name, prefix = [], source, locate, hide } = teller;
  // The place of a file's schema has nothing to do with its content.
  const { $schema: _, ...keys } = found.keys ?? {};
  const text = hide(pathText([...prefix, ...found.path]));
  const at = locate?.(found.path);
  const hint = hintOf({ ...found, keys }, pathText(prefix)) ?? '';
  return {
    path: text,
    value: undefined,
    expected: 'a known key',
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

export function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Readonly<Record<string | number, unknown>>)[key];
  }
  return current;
}
