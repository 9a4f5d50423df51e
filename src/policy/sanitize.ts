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
