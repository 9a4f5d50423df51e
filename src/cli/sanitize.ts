import { sanitize } from '../policy/sanitize.ts';

export { sanitize };

/** Text of others in its own lines: no characters that steer a terminal, so that what is left of a sequence is only words. */
export function plainText(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '');
}

const longestQuotedChars = 100;

/** A word of others for an error message: quoted, short, harmless. */
export function quoted(word: string): string {
  const clean = sanitize(word);
  return JSON.stringify(clean.length > longestQuotedChars ? `${clean.slice(0, longestQuotedChars - 1)}…` : clean);
}

/** `value` as JSON for machines. Characters that JSON lets through but a terminal may obey are written as escapes. */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return `${json.replace(/(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escapeUnicode)}\n`;
}

/** `value` as one line of JSON, as harmless as {@link toJson}. */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, escapeUnicode)}\n`;
}

function escapeUnicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
