import { type ServerEnd, deed, withStderr } from '../../src/actors/mcp/face.ts';
import { errorText } from '../../src/calls/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';

/** Why the app-server did not come up: it could not be started, ended before it answered, or refused. */
export function startupFacts(error: unknown, end: ServerEnd | undefined, stderr: string): FailureFacts {
  const known = error instanceof AttemptError ? error.facts : undefined;
  if (end === undefined && known?.reason === 'startup_failed') return known.code === 'ENOENT' ? notFound(known) : known;
  if (end !== undefined && end.fault !== 'message_too_large') {
    return {
      kind: 'crash',
      reason: 'startup_failed',
      message: withStderr(`Codex ${deed(end)} before it answered initialize`, stderr),
      outcome: 'not_started',
      code: end.signal ?? end.exitCode,
    };
  }
  const said = known?.message ?? (error instanceof Error ? error.message : 'unknown');
  return {
    kind: 'protocol',
    reason: end === undefined ? 'init_rejected' : 'message_too_large',
    message: withStderr(end === undefined ? `Codex refused initialize: ${said}` : `Codex ${deed(end)}`, stderr),
    outcome: 'not_started',
    code: known?.code,
    cause: error,
  };
}

/** Why a connection is given up whose lines are no messages. */
export const unreadable: FailureFacts = {
  kind: 'protocol',
  message: 'What Codex writes are no messages',
  outcome: 'unknown',
};

/** Why nothing new is asked of a connection whose lines are no messages. */
export const unhealthy: FailureFacts = { ...unreadable, kind: 'unavailable', outcome: 'not_started' };

/** Why there is no connection: its actor could not be started, or was stopped in its start. */
export function notStarted(name: string, error: unknown): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  const message = `${name} is not running: ${errorText(error) ?? 'it was stopped'}`;
  return { kind: 'unavailable', message, outcome: 'not_started', cause: error };
}

/** A missing working directory has the same code. */
function notFound(facts: FailureFacts): FailureFacts {
  return facts.message.includes('no such command') ? { ...facts, reason: 'codex_not_found' } : facts;
}
