/** Sequences that steer a terminal, in their 7-bit and 8-bit forms; one that is cut off ends with its text. */
const escapes = new RegExp(
  [
    // Operating system command, device control and other strings, up to their terminator.
    '(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    // Control sequence introducer with parameters, intermediates and final byte.
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    // Everything else that starts with an escape.
    '\\u001b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);

/** Control characters, and those that change the direction of text that follows. */
const controls = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Text of others as one harmless line: no terminal escapes, no control characters, white space as single spaces. */
export function sanitize(text: string): string {
  return text
    .replace(escapes, '')
    .replace(/[\s\u0085]+/g, ' ')
    .replace(controls, '')
    .trim();
}

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
