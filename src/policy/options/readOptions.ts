import { infinity, msIn } from '../text/duration.ts';
import {
  expectedOf,
  type GivenValues,
  type Key,
  type KeyData,
  type Keys,
  type Rule,
  type Tell,
  type Values,
} from './optionKeys.ts';
import { keysOfAll } from './optionPlace.ts';
import { complaintAt, holdsSecret, type OptionProblem, optionError } from './optionProblem.ts';

/**
 * Reads options by their table: checked, durations in ms, defaults filled in.
 * @param name - stands before the keys in errors; empty for none.
 * @throws TypeError or RangeError that names the first option that is wrong, its value, and the nearest known name.
 */
export function readOptions<K extends Keys>(
  name: string,
  value: unknown,
  keys: K,
  rule?: (values: Values<K>, tell: Tell) => void,
): Values<K> {
  const plain = plainValues(value, keys, rule as Rule | undefined, true);
  if (plain !== undefined) return plain as Values<K>;
  return new Reading(thrower(name), true).value({ kind: 'object', keys, rule: rule as Rule }, value) as Values<K>;
}

/** The same, without defaults: what was not given is not there. Fast where nothing is wrong: a call may be given options each time. */
export function readGiven<K extends Keys>(
  name: string,
  value: unknown,
  keys: K,
  rule?: (values: GivenValues<K>, tell: Tell) => void,
): GivenValues<K> {
  const plain = plainValues(value, keys, rule as Rule | undefined, false);
  if (plain !== undefined) return plain as GivenValues<K>;
  const key: KeyData = { kind: 'object', keys, rule: rule as Rule | undefined };
  return new Reading(thrower(name), false).value(key, value) as GivenValues<K>;
}

/** The value of one option or argument. @throws TypeError or RangeError that names it and its value. */
export function readValue<T>(name: string, value: unknown, key: Key<T, unknown>): T {
  return (isPlain(key, value) ? value : new Reading(thrower(name), true).valueOr(key, value)) as T;
}

/**
 * Collects what of a value is right, and everything that is not; without defaults.
 * @param judges - whether rules are asked too, which need all there is. @defaultValue true
 */
export function collectProblems(
  key: KeyData,
  value: unknown,
  judges = true,
): { readonly value: unknown; readonly problems: readonly OptionProblem[] } {
  const problems: OptionProblem[] = [];
  const reading = new Reading((problem) => void problems.push(problem), false, judges);
  return { value: reading.value(key, value), problems };
}

/** Options that are plain figures, texts and flags without anything wrong; undefined where they have to be looked at closely. */
function plainValues(value: unknown, keys: Keys, rule: Rule | undefined, fills: boolean): object | undefined {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return undefined;
  const read: Record<string, unknown> = {};
  for (const name in value) {
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key === undefined) return undefined;
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) continue;
    if (!isPlain(key, given)) return undefined;
    read[name] = given;
  }
  const { required, defaults } = needsOf(keys);
  for (const name of required) if (!Object.hasOwn(read, name)) return undefined;
  if (fills) for (const [name, usual] of defaults) if (!Object.hasOwn(read, name)) read[name] = usual;
  ruleSpoke = false;
  rule?.(read as never, noteThatRuleSpoke);
  return ruleSpoke ? undefined : read;
}

let ruleSpoke = false;
// All calls share it: a closure for each would be most of what reading costs.
const noteThatRuleSpoke = (): void => {
  ruleSpoke = true;
};

/** Keys that have to be there, and those that are filled in. */
interface Needs {
  readonly required: readonly string[];
  readonly defaults: readonly (readonly [name: string, value: unknown])[];
}

const needs = new WeakMap<Keys, Needs>();

function needsOf(keys: Keys): Needs {
  const known = needs.get(keys);
  if (known !== undefined) return known;
  const all = Object.entries<KeyData>(keys);
  const made: Needs = {
    required: all.filter(([, key]) => key.required === true).map(([name]) => name),
    defaults: all.map(([name, key]) => [name, defaultOf(key)] as const).filter(([, value]) => value !== undefined),
  };
  needs.set(keys, made);
  return made;
}

const readDefaults = new WeakMap<KeyData, unknown>();

/** Returns what a key that is left out comes to: an object is read like one that was given, once for all. */
function defaultOf(key: KeyData): unknown {
  if (key.default === undefined || (key.kind !== 'object' && key.kind !== 'either')) return key.default;
  const known = readDefaults.get(key);
  if (known !== undefined) return known;
  const read = new Reading(thrower(''), true).value(key, key.default);
  readDefaults.set(key, Object.freeze(read));
  return read;
}

function isPlain(key: KeyData, value: unknown): boolean {
  switch (key.kind) {
    case 'duration':
      return typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY;
    case 'number':
      return (
        typeof value === 'number' &&
        value >= key.min &&
        value <= (key.max ?? Number.MAX_SAFE_INTEGER) &&
        (!key.integer || Number.isInteger(value))
      );
    case 'boolean':
      return typeof value === 'boolean';
    case 'text':
      return typeof value === 'string' && value !== '' && key.form === undefined;
    case 'choice':
      return key.choices.includes(value as string);
    case 'test':
      return key.holds(value);
    case 'off':
    case 'methods':
    case 'list':
    case 'names':
    case 'object':
    case 'variants':
    case 'either':
      return false;
  }
}

function thrower(name: string): (problem: OptionProblem) => void {
  return (problem) => {
    throw optionError(name, problem);
  };
}

/** A reading of a value: what it meets on its way is told where it is. */
class Reading {
  readonly #tell: (problem: OptionProblem) => void;
  readonly #fills: boolean;
  readonly #judges: boolean;
  readonly #path: (string | number)[] = [];
  #told = 0;

  /**
   * @param fills - whether defaults are filled in.
   * @param judges - whether rules are asked.
   */
  constructor(tell: (problem: OptionProblem) => void, fills: boolean, judges = true) {
    this.#tell = tell;
    this.#fills = fills;
    this.#judges = judges;
  }

  /** Reads a key whose value may be left out. */
  valueOr(key: KeyData, value: unknown): unknown {
    if (value !== undefined) return this.value(key, value);
    if (key.required === true) return this.#wrong(key, value, 'missing');
    return this.#fills ? defaultOf(key) : undefined;
  }

  /** Reads a value that is there; undefined when it is wrong. */
  value(key: KeyData, value: unknown): unknown {
    switch (key.kind) {
      case 'duration':
        return this.#duration(key, value);
      case 'number':
        return this.#number(key, value);
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#wrong(key, value, 'type');
      case 'text':
        if (typeof value !== 'string') return this.#wrong(key, value, 'type');
        return (value !== '' || key.empty) && key.form?.(value) !== false ? value : this.#wrong(key, value, 'range');
      case 'choice':
        return key.choices.includes(value as string) ? value : this.#wrong(key, value, 'range');
      case 'off':
        return value === false ? value : this.#wrong(key, value, 'range');
      case 'test':
        return key.holds(value) ? value : this.#wrong(key, value, 'type');
      case 'methods':
        return this.#methods(key, value);
      case 'list':
        return this.#list(key, value);
      case 'names':
        return this.#names(key, value);
      case 'variants':
        return this.#variants(key, value);
      case 'either':
        return this.#either(key, value);
      case 'object':
        return this.#object(key, value);
    }
  }

  /** Reads an object of known keys. */
  keys(
    keys: Keys,
    value: unknown,
    about?: KeyData,
    goesWith?: (name: string) => OptionProblem['goesWith'],
  ): Readonly<Record<string, unknown>> | undefined {
    if (!isObject(value)) {
      this.#wrong(about ?? { kind: 'object', keys }, value, 'type');
      return undefined;
    }
    const isOpen = about?.kind === 'object' && about.open === true;
    const read: Record<string, unknown> = isOpen ? { ...value } : {};
    for (const name of Object.keys(value)) {
      if (!isOpen && !Object.hasOwn(keys, name)) this.#unknown(name, keys, goesWith?.(name));
    }
    let isWhole = true;
    for (const name in keys) {
      const given = value[name];
      // Only `undefined` stands for what is not given: `null` is a mistake.
      if (given === undefined && !this.#fills && keys[name]?.required !== true) continue;
      this.#path.push(name);
      const made = this.valueOr(keys[name] as KeyData, given);
      this.#path.pop();
      if (made !== undefined) read[name] = made;
      else if (keys[name]?.required === true) isWhole = false;
    }
    // An object that misses something is of no use without it.
    return isWhole ? read : undefined;
  }

  #object(key: Extract<KeyData, { kind: 'object' }>, value: unknown): unknown {
    const told = this.#told;
    const values = this.keys(key.keys, value, key);
    // Values that do not go together are not told of where one of them is wrong already.
    if (key.rule === undefined || !this.#judges || values === undefined || this.#told > told) return values;
    const judged = this.#fills ? values : new Reading(() => undefined, true, false).keys(key.keys, values);
    key.rule(judged as never, (place, complaint) => {
      const path = typeof place === 'string' ? [place] : place;
      const isSecret = path[0] !== undefined && holdsSecret(key.keys[path[0]] ?? key);
      this.#report({ ...complaintAt([...this.#path, ...path], complaint), isSecret });
    });
    return values;
  }

  #duration(key: Extract<KeyData, { kind: 'duration' }>, value: unknown): number | undefined {
    const ms = typeof value === 'string' ? (value === infinity ? Number.POSITIVE_INFINITY : msIn(value)) : value;
    if (typeof value !== 'string' && typeof value !== 'number') return this.#wrong(key, value, 'type');
    if (typeof ms !== 'number' || Number.isNaN(ms)) return this.#wrong(key, value, 'range');
    const isIn = ms === Number.POSITIVE_INFINITY ? key.infinite : key.zero ? ms >= 0 : ms > 0;
    return isIn ? ms : this.#wrong(key, value, 'range');
  }

  #number(key: Extract<KeyData, { kind: 'number' }>, value: unknown): number | undefined {
    if (typeof value !== 'number') return this.#wrong(key, value, 'type');
    if (value === Number.POSITIVE_INFINITY && key.infinite) return value;
    const { min, max = key.integer ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE, integer } = key;
    const isIn = value >= min && value <= max && (!integer || Number.isInteger(value));
    return isIn ? value : this.#wrong(key, value, 'range');
  }

  #methods(key: Extract<KeyData, { kind: 'methods' }>, value: unknown): unknown {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null)
      return this.#wrong(key, value, 'type');
    for (const method of [...key.names, ...key.optional]) {
      const given: unknown = Reflect.get(value, method);
      if (typeof given === 'function' || (given === undefined && key.optional.includes(method))) continue;
      return this.#at(method, () => this.#wrong(functionKey, given, 'type'));
    }
    return value;
  }

  #list(key: Extract<KeyData, { kind: 'list' }>, value: unknown): readonly unknown[] | undefined {
    if (!Array.isArray(value)) return this.#wrong(key, value, 'type');
    if (value.length < key.least) return this.#wrong(key, value, 'range');
    return value.map((item: unknown, index) => this.#at(index, () => this.value(key.of, item)));
  }

  #names(key: Extract<KeyData, { kind: 'names' }>, value: unknown): unknown {
    if (!isObject(value)) return this.#wrong(key, value, 'type');
    const read: [string, unknown][] = [];
    for (const [name, part] of Object.entries(value)) {
      if (!key.name.test(name)) this.#unknown(name, Object.fromEntries(key.known?.map((each) => [each, key.of]) ?? []));
      else if (part === undefined) read.push(...(key.gaps === true ? [[name, part] as [string, unknown]] : []));
      else read.push([name, this.#at(name, () => this.value(key.of, part))]);
    }
    return Object.fromEntries(read);
  }

  #variants(key: Extract<KeyData, { kind: 'variants' }>, value: unknown): unknown {
    if (!isObject(value)) return this.#wrong(key, value, 'type');
    const kind = value[key.by] ?? key.usual;
    const choices = Object.keys(key.of);
    const isKnown = typeof kind === 'string' && choices.includes(kind);
    const own = isKnown ? key.of[kind] : undefined;
    const word: KeyData = { kind: 'choice', choices };
    if (own !== undefined) {
      const keys = { [key.by]: word, ...own };
      return this.keys(keys, value, undefined, (name) => {
        const words = choices.filter((each) => Object.hasOwn(key.of[each] ?? {}, name));
        return words.length === 0 ? undefined : { key: key.by, words };
      });
    }
    const known: Keys = { [key.by]: word, ...keysOfAll(key) };
    for (const name of Object.keys(value)) if (!Object.hasOwn(known, name)) this.#unknown(name, known);
    return this.#at(key.by, () => this.#wrong(word, kind, kind === undefined ? 'missing' : 'range'));
  }

  #either(key: Extract<KeyData, { kind: 'either' }>, value: unknown): unknown {
    const form = key.of[key.pick(value)];
    if (form === undefined) return this.#wrong(key, value, 'type');
    // A value that is no object at all is told of as none of the forms.
    const isNeither = 'object names variants'.includes(form.kind) && !isObject(value);
    return isNeither ? this.#wrong(key, value, 'type') : this.value(form, value);
  }

  #at<T>(place: string | number, read: () => T): T {
    this.#path.push(place);
    const value = read();
    this.#path.pop();
    return value;
  }

  #unknown(name: string, keys: Keys = {}, goesWith?: OptionProblem['goesWith']): void {
    const path = [...this.#path, name];
    this.#report({ path, what: 'unknown', expected: 'a known key', value: undefined, keys, goesWith });
  }

  #wrong(key: KeyData, value: unknown, what: 'type' | 'range' | 'missing'): undefined {
    const isSecret = holdsSecret(key);
    this.#report({ path: [...this.#path], what, expected: expectedOf(key), value, isSecret });
  }

  #report(problem: OptionProblem): void {
    this.#told += 1;
    this.#tell(problem);
  }
}

const functionKey: KeyData = { kind: 'test', expected: 'a function', holds: () => true };

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
