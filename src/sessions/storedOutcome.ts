import type { EffectOutcome, Failure, Outcome } from '../policy/failures/failure.ts';
import { fromJson, toJson } from '../policy/text/storedJson.ts';

/** Writes how a message ended, for its sender in another process: a value that is no JSON as a failure that says so, and no cause, which is of the process that met it. */
export function outcomeToJson(outcome: Outcome<unknown>): string {
  if (!outcome.ok) return toJson({ ok: false, failure: { ...outcome.failure, cause: undefined } });
  if (outcome.value === undefined) return '{"ok":true}';
  try {
    const value = JSON.stringify(outcome.value) as string | undefined;
    if (value !== undefined) return `{"ok":true,"value":${value}}`;
  } catch {
    // Below.
  }
  return toJson(untold('It is done; what its handler returned is no JSON, and not kept', 'done'));
}

/** Reads that; what cannot be read is a failure that says so. */
export function outcomeIn(text: unknown): Outcome<unknown> {
  const read = fromJson(text)?.value as { ok?: unknown; value?: unknown; failure?: unknown } | null | undefined;
  if (read?.ok === true) return { ok: true, value: read.value };
  if (typeof read?.failure === 'object' && read.failure !== null)
    return { ok: false, failure: read.failure as Failure };
  return untold('How it ended cannot be read', 'unknown');
}

function untold(message: string, outcome: EffectOutcome): Outcome<never> {
  const failure: Failure = { kind: 'unknown', message, outcome, integration: '', attempts: 1, retryable: false };
  return { ok: false, failure };
}

/** Longest outcome that is kept with its message, in characters of JSON. */
const mostChars = 65_536;

/** The same to be kept with a message; undefined for one that is too long, or none. */
export function keptOutcome(outcome: Outcome<unknown> | undefined): string | undefined {
  const text = outcome && outcomeToJson(outcome);
  return text !== undefined && text.length <= mostChars ? text : undefined;
}
