import { AttemptError, type FailureFacts } from '../../policy/failure.ts';
import { isServerError, lostRequestIn, plain } from './mcpCall.ts';
import { deed, withStderr } from './serverEnd.ts';
import type { ServerEnd } from './serverLink.ts';

/** Why a server did not come up: it could not be started, ended before it answered, or refused. */
export function startupFacts(error: unknown, end: ServerEnd | undefined, stderr: string): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  if (end?.facts !== undefined) return end.facts;
  const lost = lostRequestIn(error);
  if (lost !== undefined) return lost;
  if (end !== undefined && end.fault !== 'message_too_large') {
    return {
      kind: 'crash',
      reason: 'startup_failed',
      message: withStderr(`The server ${deed(end)} before it answered initialize`, stderr),
      outcome: 'not_started',
      code: end.signal ?? end.exitCode,
    };
  }
  return {
    kind: 'protocol',
    reason: end === undefined ? 'init_rejected' : 'message_too_large',
    message: withStderr(end === undefined ? `initialize failed: ${plain(error)}` : `The server ${deed(end)}`, stderr),
    outcome: 'not_started',
    code: isServerError(error) ? error.code : undefined,
    cause: error,
  };
}
