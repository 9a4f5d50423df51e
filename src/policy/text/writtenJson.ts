import { AttemptError } from '../failures/failure.ts';
import { messageOf } from '../failures/thrown.ts';

/** Steps of a path that are told: what is nested too deeply has no end that helps. */
const mostSteps = 12;

/** Writes a message with what a caller gave it. @throws {@link AttemptError} that names the member that is no JSON: nothing was sent. */
export function writtenJson(message: object): string {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    const path = pathIn('params' in message ? message.params : message, new Set()).replace(/^\./, '');
    const why = messageOf(cause).split('\n', 1).join('');
    const said = `\`${path}\` cannot be written as JSON, and nothing was sent: ${why}`;
    throw new AttemptError({ kind: 'permanent', message: said, outcome: 'not_started', cause });
  }
}

/** Finds the way to the innermost member that cannot be written: `.arguments.list[0].price`; empty for what has none. */
function pathIn(value: unknown, outer: ReadonlySet<unknown>): string {
  if (typeof value !== 'object' || value === null || outer.has(value)) return '';
  if (outer.size === mostSteps) return '…';
  const keys = tried<readonly string[]>(() => Object.keys(value)) ?? [];
  const key = keys.find(
    (each) => tried(() => [JSON.stringify((value as Record<string, unknown>)[each])]) === undefined,
  );
  if (key === undefined) return '';
  const step = Array.isArray(value)
    ? `[${key}]`
    : /^[A-Za-z_$][\w$]*$/.test(key)
      ? `.${key}`
      : `[${JSON.stringify(key)}]`;
  const inner = tried(() => (value as Record<string, unknown>)[key]);
  return step + pathIn(inner, new Set([...outer, value]));
}

function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
