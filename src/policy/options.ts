import { nearest } from './nearest.ts';

/**
 * Checks of public options. Each throws at once and names the option and the value, in one form:
 * ``Expected `timeoutMs` to be a positive integer, got -1``.
 */

/** How a value appears in an error: short, quoted where it is text, never a whole object. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}

function expected(name: string, what: string, value: unknown): string {
  return `Expected \`${name}\` to be ${what}, got ${show(value)}`;
}

/** @throws TypeError when `value` is no number, RangeError when it is not an integer from `min` to `max`. */
export function checkInteger(name: string, value: unknown, min = 1, max = Number.MAX_SAFE_INTEGER): number {
  const what =
    min === 1 && max === Number.MAX_SAFE_INTEGER
      ? 'a positive integer'
      : max === Number.MAX_SAFE_INTEGER
        ? `an integer of at least ${min}`
        : `an integer from ${min} to ${max}`;
  if (typeof value !== 'number') throw new TypeError(expected(name, what, value));
  if (!Number.isInteger(value) || value < min || value > max) throw new RangeError(expected(name, what, value));
  return value;
}

/** @throws TypeError when `value` is no number, RangeError when it is not a finite number from `min` to `max`. */
export function checkNumber(name: string, value: unknown, min = 0, max = Number.MAX_VALUE): number {
  const what = max === Number.MAX_VALUE ? `a finite number of at least ${min}` : `a number from ${min} to ${max}`;
  if (typeof value !== 'number') throw new TypeError(expected(name, what, value));
  if (!Number.isFinite(value) || value < min || value > max) throw new RangeError(expected(name, what, value));
  return value;
}

/** A duration in ms: a finite number above 0. @throws TypeError or RangeError that names the option and the value. */
export function checkDuration(name: string, value: unknown): number {
  const what = 'a duration in ms above 0';
  if (typeof value !== 'number') throw new TypeError(expected(name, what, value));
  if (!Number.isFinite(value) || value <= 0) throw new RangeError(expected(name, what, value));
  return value;
}

/** @throws TypeError when `value` is not a string, RangeError when it is empty. */
export function checkName(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(expected(name, 'a non-empty string', value));
  if (value === '') throw new RangeError(expected(name, 'a non-empty string', value));
  return value;
}

/** @throws TypeError when `value` is not a string. */
export function checkText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(expected(name, 'a string', value));
  return value;
}

/** @throws TypeError that names the element when `value` is no array of strings. */
export function checkTexts(name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(expected(name, 'an array of strings', value));
  value.forEach((text: unknown, index) => checkText(`${name}[${index}]`, text));
  return value as readonly string[];
}

/** @throws TypeError when `value` is not a boolean. */
export function checkBoolean(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw new TypeError(expected(name, 'true or false', value));
  return value;
}

/** @throws TypeError when `value` is not a function. */
export function checkFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(expected(name, 'a function', value));
}

/** @throws RangeError that lists the choices when `value` is none of them. */
export function checkOneOf<T extends string>(name: string, value: unknown, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new RangeError(expected(name, `one of ${choices.join(', ')}`, value));
  return found;
}

/** @throws TypeError when `value` is no object. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(expected(name, 'an object', value));
  }
}

/** @throws TypeError when `value` is no plain object, RangeError when it has a key that is not in `keys`. */
export function checkKeys(name: string, value: unknown, keys: readonly string[]): void {
  checkObject(name, value);
  for (const key of Object.keys(value as object)) {
    if (!keys.includes(key)) {
      const close = nearest(key, keys);
      const guess = close === undefined ? '' : `; did you mean ${close}?`;
      throw new RangeError(`Unknown option \`${name}.${key}\`; known: ${keys.join(', ')}${guess}`);
    }
  }
}

/** @throws TypeError that names the variable and its value. */
export function checkVariables(name: string, value: Readonly<Record<string, string | undefined>>): void {
  checkObject(name, value);
  for (const [variable, text] of Object.entries(value)) if (text !== undefined) checkText(`${name}.${variable}`, text);
}
