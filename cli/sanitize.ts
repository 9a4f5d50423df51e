import { plainJson, plainText, sanitize, wholeMs } from '../src/policy/text/face.ts';

export { plainText, sanitize };

const longestQuotedChars = 100;

/** A word of others for an error message: quoted, short, harmless. */
export function quoted(word: string): string {
  const clean = sanitize(word);
  return JSON.stringify(clean.length > longestQuotedChars ? `${clean.slice(0, longestQuotedChars - 1)}…` : clean);
}

/** `value` as JSON for machines. Characters that JSON lets through but a terminal may obey are written as escapes; times in ms are whole. */
export function toJson(value: unknown): string {
  return `${plainJson(JSON.stringify(value, wholeMs, 2))}\n`;
}

/** `value` as one line of JSON, as harmless as {@link toJson}. */
export function toJsonLine(value: unknown): string {
  return `${plainJson(JSON.stringify(value, wholeMs))}\n`;
}
