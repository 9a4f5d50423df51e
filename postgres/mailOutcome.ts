import type { Failure, Outcome } from '../src/policy/failures/face.ts';
import { fromJson, toJson } from '../src/policy/text/face.ts';

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
