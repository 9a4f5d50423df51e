import { nearest } from '../text/nearest.ts';
import type { Complaint, KeyData, Keys } from './optionKeys.ts';
import { placesOf } from './optionPlace.ts';
import { plainJson } from '../text/sanitize.ts';
import { show } from '../text/showValue.ts';

/** Place of an option. */
export type Path = readonly (string | number)[];

/** Problem of one option. */
export interface OptionProblem {
  readonly path: Path;
  /** `type` and `range`: its value; `unknown`: its name; `together`: right on its own, it does not go with others. */
  readonly what: 'type' | 'range' | 'missing' | 'unknown' | 'together';
  /** Form that the value has to have, as it follows "expected". */
  readonly expected: string;
  readonly value: unknown;
  /** Demand on the option, where that is no value: `to be left out`. */
  readonly says?: string | undefined;
  /** The names that may have been meant. */
  readonly known?: readonly string[] | undefined;
  /** The options among which an unknown one was looked for. */
  readonly keys?: Keys | undefined;
  /** An unknown one that goes with other words under a key than the one given: that key, and those words. */
  readonly goesWith?: { readonly key: string; readonly words: readonly string[] } | undefined;
  readonly isSecret?: boolean | undefined;
  /** The value is a default, that does not go with what was given. */
  readonly isDefault?: boolean | undefined;
}

/** Turns what a rule has found into a problem. */
export function complaintAt(path: Path, complaint: Complaint): OptionProblem {
  return { path, what: 'together', expected: '', value: undefined, ...complaint };
}

/** `alerts.integrations["my server"].failures` */
export function pathText(path: Path): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w$-]+$/.test(key)) return `[${plainJson(JSON.stringify(key))}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}

/** The problem as it is thrown. @param name - of the object that holds the options. */
export function optionError(name: string, problem: OptionProblem): TypeError | RangeError {
  const { path, what, expected, says } = problem;
  const hint = hintOf(problem, name);
  const joined = nameAt(name, path);
  if (what === 'unknown') return new RangeError(`Unknown option \`${joined}\`; ${hint}`);
  const said = says ?? `to be ${expected}, got ${gotText(problem)}`;
  const message = `Expected \`${joined}\` ${said}${hint === undefined ? '' : `; ${hint}`}`;
  const isType = what === 'type' || what === 'missing';
  return isType ? new TypeError(message) : new RangeError(message);
}

/** `kb.policy.retry` */
function nameAt(name: string, path: Path): string {
  const inner = pathText(path);
  return name === '' ? inner || 'options' : `${name}${/^(?:\[|$)/.test(inner) ? '' : '.'}${inner}`;
}

/**
 * Not before it is told: to look for the nearest name takes longer than to find that there is none.
 * @param name - stands before the path in the message.
 */
export function hintOf(problem: OptionProblem, name = ''): string | undefined {
  const { path, what, value, known, keys, goesWith } = problem;
  if (goesWith !== undefined) return `it goes with ${goesWith.key} ${goesWith.words.join(' or ')}`;
  if (what === 'unknown' && keys !== undefined) return hintAmong(path, keys, name);
  return known === undefined ? undefined : hintFor(String(what === 'unknown' ? path.at(-1) : value), known);
}

/** Finds which option an unknown one may have meant: one beside it by its name, one further in by where it is. */
function hintAmong(path: Path, keys: Keys, name: string): string {
  const word = String(path.at(-1));
  const around = path.slice(0, -1);
  const places = placesOf(word, keys);
  const [first] = places;
  if (first === undefined && word === around.at(-1)) return `what it holds belongs beside it, without another ${word}`;
  if (first === undefined) return hintFor(word, Object.keys(keys));
  if (first.length === 1) return `did you mean ${first[0]}?`;
  return `it is ${places.map((place) => `\`${nameAt(name, [...around, ...place])}\``).join(' or ')}`;
}

export function gotText({ value, isSecret, isDefault }: OptionProblem): string {
  if (isSecret === true && value !== undefined && typeof value !== 'object')
    return `a ${typeof value} that is not shown`;
  return `${show(value)}${isDefault === true ? ' by default' : ''}`;
}

/** At most so many names are listed. */
const mostNames = 12;

/** Finds what an unknown name may have meant. */
function hintFor(name: string, known: readonly string[]): string {
  const close = nearest(name, known);
  if (close !== undefined) return `did you mean ${close}?`;
  if (known.length === 0) return 'choose another name';
  const more = known.length - mostNames;
  return `known: ${known.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Tells whether what is wrong with a key is never shown: a secret, or what stands where an object of secrets belongs. */
export function holdsSecret(key: KeyData): boolean {
  if (isSecret(key)) return true;
  // A webhook that is given as its address alone is the likeliest mistake.
  return key.kind === 'object' && Object.values<KeyData>(key.keys).some(isSecret);
}

function isSecret(key: KeyData): boolean {
  return key.secret === true || (key.kind === 'names' && key.of.secret === true);
}
