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

/**
 * Characters that are not seen: control characters, those that change the direction of text that follows, and those that take no room, by which one name
 * passes for another. The joiners stay where scripts and emoji need them.
 */
const hidden = '(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\u115f\\u1160\\u3164\\uffa0]';
const unseen = `${hidden}|(?<=[\\0-\\x7f])[\\u200c\\u200d]`;
const controls = new RegExp(hidden, 'gu');
const idleJoiners = /(?<=^|[\0-\x7f])[\u200c\u200d]+/gu;
const controlsInLines = new RegExp(`(?![\\n\\t])(?:${unseen})`, 'gu');
/** Line and paragraph separators are no characters of a line either. */
const controlsInJson = new RegExp(`(?!\\n)(?:${unseen}|[\\u2028\\u2029])`, 'gu');

/** Text without what steers a terminal. */
export const withoutEscapes = (text: string): string => text.replace(escapes, '');

/** Text of others as one harmless line: no terminal escapes, no control characters, white space as single spaces. */
export function sanitize(text: string): string {
  return withoutEscapes(text)
    .replace(/[\s\u0085]+/g, ' ')
    .replace(controls, '')
    .replace(idleJoiners, '')
    .replace(/ {2,}/g, ' ')
    .trim();
}

/** Text of others in its own lines: nothing that steers a terminal or is not seen, so that what is left of a sequence is only words. */
export function plainText(text: string): string {
  return text.replace(controlsInLines, '');
}

/** JSON in which what is not seen, and JSON lets through, is written as escapes. */
export function plainJson(json: string): string {
  return json.replace(controlsInJson, escapeUnicode);
}

function escapeUnicode(character: string): string {
  return Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
