import { z } from 'zod';
import { infinity } from './infinity.ts';

/** What a key of the configuration says of itself beyond its type. */
export interface KeyMeta {
  /** Names a part that is used more than once in the JSON schema. */
  readonly id?: string | undefined;
  /** What it does, in a sentence. */
  readonly description?: string | undefined;
  readonly default?: unknown;
  /** Said in place of `default` where the default depends on something. */
  readonly usually?: string | undefined;
  readonly unit?: 'ms' | 'bytes' | undefined;
  /** What a value has to be; goes into errors as `expected …`. */
  readonly expected?: string | undefined;
  /** Its value is never shown. */
  readonly secret?: true | undefined;
  /** A later source replaces it as a whole. */
  readonly whole?: true | undefined;
  /** In a JSON file it is a text; only a module can hold something else. */
  readonly textInFiles?: true | undefined;
  /** The environment variable, where the usual rule does not make it. */
  readonly variable?: string | undefined;
}

/** What every key says of itself. */
export const keyMeta = z.registry<KeyMeta>();

type About = Pick<KeyMeta, 'default' | 'usually' | 'secret' | 'variable'>;

interface Bounds {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly unit?: KeyMeta['unit'];
}

interface DurationBounds {
  /** @defaultValue false */
  readonly zero?: boolean | undefined;
  /** Whether `"infinity"` switches the limit off. @defaultValue false */
  readonly infinite?: boolean | undefined;
}

const anyDuration = /^\d{1,12}(\.\d{1,6})?(ms|s|m|h)$/;
// The same, with a digit above 0 somewhere.
const positiveDuration = /^(?=.*[1-9])\d{1,12}(\.\d{1,6})?(ms|s|m|h)$/;
const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function toMs(value: number | string): number {
  if (typeof value === 'number') return value;
  if (value === infinity) return Number.POSITIVE_INFINITY;
  const [, count, unit = ''] = /^([\d.]+)(\w+)$/.exec(value) ?? [];
  return Number(count) * (unitsMs[unit] ?? Number.NaN);
}

/** A duration without a default or description of its own, such as a delay of a list; becomes ms. */
export function plainDuration({ zero = false, infinite = false }: DurationBounds = {}) {
  const bound = zero ? 'of at least 0' : 'above 0';
  const number = zero ? z.number().min(0) : z.number().gt(0);
  const text = z.string().regex(zero ? anyDuration : positiveDuration);
  const either = infinite ? z.union([number, text, z.literal(infinity)]) : z.union([number, text]);
  const expected = `a duration ${bound} (ms, or text such as 30s)${infinite ? `, or "${infinity}"` : ''}`;
  return either.transform(toMs).register(keyMeta, { unit: 'ms', expected });
}

/** A duration, given in ms or as text; becomes ms. */
export function duration(description: string, about: About = {}, bounds: DurationBounds = {}) {
  const plain = plainDuration(bounds);
  return plain.register(keyMeta, { ...keyMeta.get(plain), description, ...about }).optional();
}

/** An integer, from 1 unless told otherwise. */
export function integer(description: string, about: About = {}, { min = 1, max, unit }: Bounds = {}) {
  const expected =
    max !== undefined
      ? `an integer from ${min} to ${max}`
      : min === 1
        ? 'a positive integer'
        : `an integer of at least ${min}`;
  const schema = max === undefined ? z.int().min(min) : z.int().min(min).max(max);
  return schema.register(keyMeta, { description, expected, unit, ...about }).optional();
}

/** A number from 0, unless told otherwise. */
export function number(description: string, about: About = {}, { min = 0, max }: Bounds = {}) {
  const expected = max === undefined ? `a number of at least ${min}` : `a number from ${min} to ${max}`;
  const schema = max === undefined ? z.number().min(min) : z.number().min(min).max(max);
  return schema.register(keyMeta, { description, expected, ...about }).optional();
}

export function boolean(description: string, about: About = {}) {
  return z
    .boolean()
    .register(keyMeta, { description, expected: 'true or false', ...about })
    .optional();
}

/** A text that says something. */
export function text(description: string, about: About = {}) {
  return z
    .string()
    .min(1)
    .register(keyMeta, { description, expected: 'a non-empty string', ...about })
    .optional();
}

export function oneOf<const T extends readonly [string, ...string[]]>(
  choices: T,
  description: string,
  about: About = {},
) {
  const expected = `one of ${choices.join(', ')}`;
  return z
    .enum(choices)
    .register(keyMeta, { description, expected, ...about })
    .optional();
}

/** An object of known keys. */
export function section<T extends z.core.$ZodLooseShape>(description: string, shape: T, id?: string) {
  return z.strictObject(shape).register(keyMeta, { description, expected: 'an object', id });
}

/** What `false` switches off. */
export function orOff<T extends z.ZodType>(inner: T, description: string) {
  const off = z.literal(false).register(keyMeta, { expected: 'false' });
  const either = z.union([off, inner]);
  keyMeta.add(either, { description, expected: 'an object, or false' });
  return either;
}

/** Parts by names that users choose. */
export function byName<T extends z.ZodType>(inner: T, description: string) {
  const name = z.string().min(1);
  return z.record(name, inner).register(keyMeta, { description, expected: 'an object' }).optional();
}

/** A list, replaced as a whole. */
export function list<T extends z.ZodType>(inner: T, description: string, expected: string, about: About = {}) {
  return z
    .array(inner)
    .register(keyMeta, { description, expected, whole: true, ...about })
    .optional();
}
