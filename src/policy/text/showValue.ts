import { plainJson } from './sanitize.ts';

/** Shows a value as it appears in an error: short, quoted where it is text, never a whole object. */
export function show(value: unknown): string {
  if (typeof value === 'string')
    return plainJson(JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value));
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return String(value);
}
