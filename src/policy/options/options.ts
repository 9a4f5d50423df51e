import { callback, integer, name as anyName, number, section, text } from './optionKeys.ts';
import { readValue } from './readOptions.ts';

export { show } from '../text/showValue.ts';

/** @throws TypeError when `value` is no number, RangeError when it is not an integer from `min` to `max`. */
export function checkInteger(name: string, value: unknown, min = 1, max?: number): number {
  return readValue(name, value, integer({ required: true, min, ...(max !== undefined && { max }) }));
}

/** @throws TypeError when `value` is no number, RangeError when it is not a finite number from `min` to `max`. */
export function checkNumber(name: string, value: unknown, min = 0, max?: number): number {
  return readValue(name, value, number({ required: true, min, ...(max !== undefined && { max }) }));
}

/** @throws TypeError when `value` is not a string, RangeError when it is empty. */
export function checkName(name: string, value: unknown): string {
  return readValue(name, value, anyName);
}

/** @throws TypeError when `value` is not a string. */
export function checkText(name: string, value: unknown): string {
  return readValue(name, value, text({ required: true, empty: true }));
}

/** @throws TypeError when `value` is not a function. */
export function checkFunction(name: string, value: unknown): void {
  readValue(name, value, callback({ required: true }));
}

/** @throws TypeError when `value` is no object. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    readValue(name, value, section({}, { required: true }));
}
