/**
 * Options as data: what a key takes, its bounds, its default and what it does, written once beside the behaviour it steers. The checks of
 * the library, the configuration file, the JSON schema and the reference page read these tables (`readOptions.ts`).
 */
import type { Duration, DurationLimit } from '../text/duration.ts';

/** Description of a key beyond what it takes. */
export interface AboutKey {
  /** Sentence on what it does; of keys that a configuration file may hold. */
  readonly help?: string | undefined;
  /** Value that holds where the key is left out. An object is read like one that was given. */
  readonly default?: unknown;
  /** Value that holds as a rule where the key is left out; it is taken from elsewhere, not filled in. */
  readonly inherited?: unknown;
  /** Said in place of `default` where that depends on something. */
  readonly usually?: string | undefined;
  /** It cannot be left out. */
  readonly required?: true | undefined;
  /** Its value is never shown. */
  readonly secret?: true | undefined;
  /** A later source of the configuration replaces it as a whole. */
  readonly whole?: true | undefined;
  /** In a JSON file it is a text; only code can give something else. */
  readonly textInFiles?: true | undefined;
  /** Only code can give it; a configuration file does not know it. */
  readonly codeOnly?: true | undefined;
  /** The environment variable, where the usual rule does not make it. */
  readonly variable?: string | undefined;
  /** Reads it later; until then it says which options are in there. */
  readonly table?: Keys | undefined;
  /** Names a part that the JSON schema uses more than once. */
  readonly id?: string | undefined;
  /** Type that is given, as `{} as WatchdogOptions`, where it is not the one that follows from the key: errors and editors name it. */
  readonly given?: unknown;
}

/** Keys by their names. */
export type Keys = Readonly<Record<string, Key>>;

/** Complaint of a rule about a key: what it should be (`a value above …`), or what it should do (`to be left out`). */
export type Complaint =
  | {
      readonly expected: string;
      readonly value: unknown;
      readonly isDefault?: boolean | undefined;
      /** The names it may have meant. */
      readonly known?: readonly string[] | undefined;
    }
  | { readonly says: string; readonly value?: unknown };

/** Hears what is wrong with a key, or with what is at a path below. */
export type Tell = (key: string | readonly (string | number)[], complaint: Complaint) => void;

/** Judges values that are right each on its own. */
export type Rule = (values: never, tell: Tell) => void;

/** Values that a key takes. */
export type KeyData = AboutKey &
  (
    | {
        readonly kind: 'duration';
        /** Lets it be 0. @defaultValue false */
        readonly zero: boolean;
        /** Lets `Infinity` or `'infinity'` switch the limit off. @defaultValue false */
        readonly infinite: boolean;
      }
    | {
        readonly kind: 'number';
        readonly integer: boolean;
        readonly min: number;
        readonly max?: number | undefined;
        readonly infinite: boolean;
        readonly unit?: 'bytes' | undefined;
        readonly expected?: string | undefined;
      }
    | { readonly kind: 'boolean' }
    | {
        readonly kind: 'text';
        readonly empty: boolean;
        /** Tells whether it is as it should be, beyond not being empty. */
        readonly form?: ((text: string) => boolean) | undefined;
        readonly expected?: string | undefined;
      }
    | { readonly kind: 'choice'; readonly choices: readonly string[] }
    | { readonly kind: 'list'; readonly of: KeyData; readonly least: number; readonly expected: string }
    /** Parts by names that users choose. */
    | {
        readonly kind: 'names';
        readonly of: KeyData;
        readonly name: RegExp;
        /** All of them, where they are few. */
        readonly known?: readonly string[] | undefined;
        /** True where one that is undefined says something. @defaultValue false */
        readonly gaps?: true | undefined;
        readonly expected: string;
      }
    | {
        readonly kind: 'object';
        readonly keys: Keys;
        readonly rule?: Rule | undefined;
        /** True where it may have other keys, which are kept as they are. @defaultValue false */
        readonly open?: boolean | undefined;
      }
    /** An object whose keys depend on the word under `by`. */
    | {
        readonly kind: 'variants';
        readonly by: string;
        readonly of: Readonly<Record<string, Keys>>;
        /** Variant that an object without that word is. */
        readonly usual?: string | undefined;
      }
    /** A choice of several forms; `pick` says which was meant. */
    | {
        readonly kind: 'either';
        readonly of: readonly KeyData[];
        readonly pick: (value: unknown) => number;
        readonly expected: string;
      }
    /** An object of the caller's that has these methods; those that may be missing too. */
    | {
        readonly kind: 'methods';
        readonly names: readonly string[];
        readonly optional: readonly string[];
        readonly expected: string;
      }
    /** Nothing but `false`, which switches off. */
    | { readonly kind: 'off' }
    /** A value that no other kind can say: a function, a signal. */
    | { readonly kind: 'test'; readonly holds: (value: unknown) => boolean; readonly expected: string }
  );

/** A key whose value becomes a `T`, and that is given a `G`; the one it becomes may always be given too. */
export type Key<T = unknown, G = T> = KeyData & { readonly '~made'?: T; readonly '~given'?: G };

/** The keys of an options type: one for each option, whose value that option takes. */
export type KeysOf<T> = { readonly [K in keyof T]-?: Key<T[K] | undefined, unknown> };

/**
 * Options as they are given, by their table: each with the documentation of its key. Those that are required stand apart, as a mapped type
 * that renames or filters its keys would lose the documentation.
 */
export type Given<K extends Keys> = {
  readonly [N in keyof Pick<K, RequiredOf<K>>]: GivenOf<K[N]>;
} & { readonly [N in keyof Omitted<K, RequiredOf<K>>]?: GivenOf<K[N]> };

/** Options as they are worked with: all there, checked, durations in ms. */
export type Made<K extends Keys> = { readonly [N in keyof K]-?: Exclude<ValueOf<K[N]>, undefined> };

type Omitted<K, N> = Pick<K, Exclude<keyof K, N>>;
type GivenOf<K> = K extends { readonly '~given'?: infer G } ? G : never;
type RequiredOf<K> = { readonly [N in keyof K]: undefined extends GivenOf<K[N]> ? never : N }[keyof K];

/** Values that options become: checked, durations in ms, defaults filled in. */
export type Values<K extends Keys> = Joined<
  { readonly [N in keyof K as IsSure<K[N]> extends true ? N : never]: ValueOf<K[N]> } & {
    readonly [N in keyof K as IsSure<K[N]> extends true ? never : N]?: Exclude<ValueOf<K[N]>, undefined>;
  }
>;

/** The same of what was given alone. */
export type GivenValues<K extends Keys> = { readonly [N in keyof K]?: Exclude<ValueOf<K[N]>, undefined> };

type ValueOf<K> = K extends { readonly '~made'?: infer T } ? T : never;
type IsSure<K> = undefined extends ValueOf<K> ? false : true;
type Joined<T> = { readonly [N in keyof T]: T[N] };

/** There is a value in any case. */
type Filled<A, T> = A extends { readonly required: true }
  ? T
  : A extends { readonly default: infer D }
    ? D extends undefined
      ? T | undefined
      : T
    : T | undefined;

/** May be left out unless it is required. */
type Asked<A, G> = A extends { readonly required: true } ? Named<A, G> : Named<A, G> | undefined;
type Named<A, G> = A extends { readonly given: infer N } ? N : G;

const key = <T, G>(data: KeyData): Key<T, G> => data;

/** Parts of a kind of key that may be left out where it is made. */
type Bounds<K extends KeyData['kind'], N extends keyof Extract<KeyData, { kind: K }>> = Partial<
  Pick<Extract<KeyData, { kind: K }>, N>
>;
type NumberBounds = Bounds<'number', 'min' | 'max' | 'infinite' | 'unit' | 'expected'>;

/** A number of ms or a text such as `30s`; becomes ms. */
export function duration<const A extends AboutKey & Bounds<'duration', 'zero' | 'infinite'>>(
  about?: A,
): Key<Filled<A, number>, Asked<A, A extends { readonly infinite: true } ? DurationLimit : Duration>> {
  return key({ zero: false, infinite: false, ...about, kind: 'duration' });
}

/** An integer from 1 unless told otherwise. */
export function integer<const A extends AboutKey & NumberBounds>(about?: A): Key<Filled<A, number>, Asked<A, number>> {
  return key({ min: 1, infinite: false, ...about, kind: 'number', integer: true });
}

/** A number from 0 unless told otherwise. */
export function number<const A extends AboutKey & NumberBounds>(about?: A): Key<Filled<A, number>, Asked<A, number>> {
  return key({ min: 0, infinite: false, ...about, kind: 'number', integer: false });
}

export function boolean<const A extends AboutKey>(about?: A): Key<Filled<A, boolean>, Asked<A, boolean>> {
  return key({ ...about, kind: 'boolean' });
}

/** A text that says something, unless it may be `empty`. */
export function text<const A extends AboutKey & Bounds<'text', 'empty' | 'form' | 'expected'>>(
  about?: A,
): Key<Filled<A, string>, Asked<A, string>> {
  return key({ empty: false, ...about, kind: 'text' });
}

export function choice<const C extends string, const A extends AboutKey>(
  choices: readonly C[],
  about?: A,
): Key<Filled<A, C>, Asked<A, C>> {
  return key({ ...about, kind: 'choice', choices });
}

/** A list, replaced as a whole by later sources. */
export function list<T, G, const A extends AboutKey & { readonly least?: number; readonly expected: string }>(
  of: Key<T, G>,
  about: A,
): Key<Filled<A, readonly NonNullable<T>[]>, Asked<A, readonly Exclude<G, undefined>[]>> {
  return key({ least: 0, whole: true, ...about, kind: 'list', of });
}

/** Every object has a `__proto__` already. */
const anyName = /^(?!__proto__$)[^]+$/;

/** Parts by names that users choose. */
export function byName<
  T,
  G,
  const A extends AboutKey & {
    readonly expected?: string;
    readonly name?: RegExp;
    readonly known?: readonly string[];
  },
>(
  of: Key<T, G>,
  about?: A,
): Key<
  Filled<A, Readonly<Record<string, Exclude<T, undefined>>>>,
  Asked<A, Readonly<Record<string, Exclude<G, undefined>>>>
> {
  return key({ name: anyName, expected: 'an object', ...about, kind: 'names', of });
}

/** An object of known keys. */
export function section<K extends Keys, const A extends AboutKey>(
  keys: K,
  about?: A,
  rule?: (values: Values<K>, tell: Tell) => void,
): Key<Filled<A, Values<K>>, Asked<A, Given<K>>> {
  return key({ ...about, kind: 'object', keys, rule: rule as Rule | undefined });
}

/** The same key with more said of it. */
export function more<T, G>(of: Key<T, G>, about: AboutKey): Key<T, G> {
  return { ...of, ...about };
}

/** `false`, which switches off. */
export const off: Key<false, false> = { kind: 'off' };

/** Makes a key of several forms. @param pick - which of them a value is meant to be. */
export function either<T, const A extends AboutKey = AboutKey, G = T>(
  of: readonly Key[],
  pick: (value: unknown) => number,
  expected: string,
  about?: A,
): Key<Filled<A, T>, Asked<A, G>> {
  return key({ ...about, kind: 'either', of, pick, expected });
}

const orFalse = (value: unknown): number => (value === false ? 0 : 1);

/** Makes a key that `false` switches off. */
export function orOff<T, G, const A extends AboutKey>(
  of: Key<T, G>,
  about?: A,
): Key<Filled<A, Exclude<T, undefined> | false>, Asked<A, Exclude<G, undefined> | false>> {
  return key({ ...about, kind: 'either', of: [off, of], pick: orFalse, expected: 'an object, or false' });
}

/** An object of the caller's with these methods. */
export function having<T, const A extends AboutKey = AboutKey>(
  expected: string,
  names: readonly string[],
  about?: A & { readonly optional?: readonly string[] },
): Key<Filled<A, T>, Asked<A, T>> {
  return key({ optional: [], ...about, kind: 'methods', names, expected });
}

/** Makes a key for what only a predicate can tell. */
export function test<T, const A extends AboutKey = AboutKey>(
  expected: string,
  holds: (value: unknown) => boolean,
  about?: A,
): Key<Filled<A, T>, Asked<A, T>> {
  return key({ ...about, kind: 'test', expected, holds });
}

/** A function of the caller. */
export function callback<T, const A extends AboutKey = AboutKey>(about?: A): Key<Filled<A, T>, Asked<A, T>> {
  return test<T, A>('a function', (value) => typeof value === 'function', about);
}

/** Ends the work when it is aborted. */
export const signal = test<AbortSignal>('an AbortSignal', (value) => value instanceof AbortSignal);

/** Anything at all. */
export const anything = test<unknown>('a value', () => true);

/** An object of whatever keys. */
export const anyObject: Key<object, object> = { kind: 'object', keys: {}, open: true, required: true };

/** A name, as an argument. */
export const name = text({ required: true });

type Variables = Readonly<Record<string, string | undefined>>;

/** Names of environment variables, and their values; one that is undefined is taken out. */
export const variables: Key<Variables | undefined, Variables | undefined> = {
  kind: 'names',
  of: text({ empty: true, secret: true }),
  gaps: true,
  name: /^[^=]+$/,
  expected: 'an object of strings',
};

/** Returns what a value has to be, as it follows "expected". */
export function expectedOf(data: KeyData): string {
  switch (data.kind) {
    case 'duration':
      return `a duration ${data.zero ? 'of at least 0' : 'above 0'} (ms, or text such as 30s)${data.infinite ? ', or "infinity"' : ''}`;
    case 'number':
      return data.expected ?? `${numberOf(data)}${data.infinite ? ', or Infinity' : ''}`;
    case 'boolean':
      return 'true or false';
    case 'text':
      return data.expected ?? (data.empty ? 'a string' : 'a non-empty string');
    case 'choice':
      return `one of ${data.choices.join(', ')}`;
    case 'variants':
      return `an object whose ${data.by} is ${orOf(Object.keys(data.of))}`;
    case 'object':
      return 'an object';
    case 'off':
      return 'false';
    case 'list':
    case 'names':
    case 'either':
    case 'methods':
    case 'test':
      return data.expected;
  }
}

function numberOf({ integer: whole, min, max }: Extract<KeyData, { kind: 'number' }>): string {
  if (whole && min === 1 && max === undefined) return 'a positive integer';
  const what = whole ? 'an integer' : 'a number';
  if (min === Number.MIN_SAFE_INTEGER) return what;
  return max === undefined ? `${what} of at least ${min}` : `${what} from ${min} to ${max}`;
}

function orOf(words: readonly string[]): string {
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
