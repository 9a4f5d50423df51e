import { AttemptError } from '../failures/failure.ts';
import { messageOf } from '../failures/thrown.ts';
import { plainJson } from './sanitize.ts';

/** Steps of a path that are told: what is nested too deeply has no end that helps. */
const mostSteps = 12;

/** Writes a message with what a caller gave it. @throws {@link AttemptError} that names the member that is no JSON: nothing was sent. */
export function writtenJson(message: object): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    const path = pathIn('params' in message ? message.params : message).replace(/^\./, '');
    const why = messageOf(cause).split('\n', 1).join('');
    const said = `\`${path}\` cannot be written as JSON, and nothing was sent: ${why}`;
    throw new AttemptError({ kind: 'permanent', message: said, outcome: 'not_started', cause });
  }
}

/** Finds the way to the innermost member that cannot be written: `.arguments.list[0].price`; empty for what has none. */
function pathIn(value: unknown, outer: readonly unknown[] = []): string {
  if (typeof value !== 'object' || value === null || outer.includes(value)) return '';
  if (outer.length === mostSteps) return '…';
  let step = '';
  let inner: unknown;
  try {
    for (const [key, read] of membersOf(value)) {
      [step, inner] = [key, undefined];
      inner = read();
      JSON.stringify(inner);
    }
    return '';
  } catch {
    return step + pathIn(inner, [...outer, value]);
  }
}

const membersOf = (value: object) =>
  Object.keys(value).map((key) => {
    const word = /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${plainJson(JSON.stringify(key))}]`;
    return [Array.isArray(value) ? `[${key}]` : word, () => (value as Record<string, unknown>)[key]] as const;
  });
