import type { Failure, Outcome } from '../policy/failures/failure.ts';
import { fromJson, toJson } from '../policy/text/storedJson.ts';

/** Writes how a message ended, for its sender in another process: as far as JSON goes, and no cause, which is of the process that met it. */
export function outcomeToJson(outcome: Outcome<unknown>): string {
  if (!outcome.ok) return toJson({ ok: false, failure: { ...outcome.failure, cause: undefined } });
  return outcome.value === undefined ? '{"ok":true}' : `{"ok":true,"value":${toJson(outcome.value)}}`;
}

/** Reads that; what cannot be read is a failure that says so. */
export function outcomeIn(text: unknown): Outcome<unknown> {
  const read = fromJson(text)?.value as { ok?: unknown; value?: unknown; failure?: unknown } | null | undefined;
  if (read?.ok === true) return { ok: true, value: read.value };
  if (typeof read?.failure === 'object' && read.failure !== null)
    return { ok: false, failure: read.failure as Failure };
  const message = 'How it ended cannot be read';
  const failure: Failure = {
    kind: 'unknown',
    message,
    outcome: 'unknown',
    integration: '',
    attempts: 1,
    retryable: false,
  };
  return { ok: false, failure };
}

/** Longest outcome that is kept with its message, in characters of JSON. */
const mostChars = 65_536;

/** The same to be kept with a message; undefined for one that is too long, or none. */
export function keptOutcome(outcome: Outcome<unknown> | undefined): string | undefined {
  const text = outcome && outcomeToJson(outcome);
  return text !== undefined && text.length <= mostChars ? text : undefined;
}
