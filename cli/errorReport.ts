import { shortageText } from '../src/actors/process/face.ts';
import { isOwnError } from './errors.ts';
import { sanitize } from './sanitize.ts';

/** Returns the text for an error that ends a command: a line, of a bug its stack. */
export function errorReport(error: unknown): string {
  if (isOwnError(error, 'UsageError', 'CommandError')) return sanitize(error.message);
  const shortage = shortageText(error);
  if (shortage !== undefined) return `It could not be done: ${shortage}; trying again may help`;
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return stack.split('\n').map(sanitize).join('\n  ');
}
