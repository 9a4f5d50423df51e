import type { Failure, FailureFacts } from '../policy/failures/failure.ts';
import type { OrderNote } from '../policy/operatorOrder.ts';

/** Ends of a message or a turn for a reason of the session's. */
export const turnEnds = {
  stopped: { kind: 'cancelled', reason: 'stopped', message: 'The session stops', outcome: 'unknown' },
  /** The same of a message that is to be kept: its sender must not take it for one that will not happen. */
  putBack: {
    kind: 'cancelled',
    reason: 'stopped',
    message: 'The session stops here; a message that is kept is delivered again',
    outcome: 'unknown',
  },
  /** End of a message that was left for another gateway. */
  unheard: {
    kind: 'cancelled',
    reason: 'stopped',
    message:
      'This gateway stops, and does not hear how the message ends; the gateway that has its session processes it',
    outcome: 'unknown',
  },
  /** The same of one that was closed: a message that waits is a dead letter then. */
  closed: { kind: 'cancelled', reason: 'closed', message: 'The session was closed', outcome: 'unknown' },
  stalled: { kind: 'watchdog', message: 'The turn made no progress', outcome: 'unknown' },
  cancelled: {
    kind: 'cancelled',
    reason: 'by_operator',
    message: 'Cancelled by an operator',
    outcome: 'cancelled',
  },
  restarted: { kind: 'crash', message: 'The session was restarted', outcome: 'unknown' },
  restartedByHand: {
    kind: 'cancelled',
    reason: 'stopped',
    message: 'The session is restarted by hand',
    outcome: 'cancelled',
  },
  dropped: { kind: 'cancelled', message: 'A newer heartbeat took its place', outcome: 'not_started' },
  ended: {
    kind: 'cancelled',
    reason: 'turn_ended',
    message: 'The turn of this call has ended',
    outcome: 'cancelled',
  },
  /** End of a message whose sender is told the same: no turn of it has begun. */
  unkept: {
    kind: 'cancelled',
    reason: 'taken_over',
    message: 'The message could not be kept; another gateway may have the session',
    outcome: 'not_started',
  },
  takenOver: {
    kind: 'cancelled',
    reason: 'taken_over',
    message: 'This gateway has lost the session; a message that is kept is processed by its next owner',
    outcome: 'unknown',
  },
} as const satisfies Readonly<Record<string, FailureFacts>>;

/** A failure of a session's own: of a message or a turn, or of a tool call of this integration. */
export function sessionFailure(session: string, facts: FailureFacts, integration = `session:${session}`): Failure {
  return { ...facts, integration, attempts: facts.outcome === 'not_started' ? 0 : 1, retryable: false };
}

/** The end of the turn of a session that an operator has restarted. */
export function restartedBy({ by, why }: OrderNote): FailureFacts {
  if (by === undefined && why === undefined) return turnEnds.restartedByHand;
  const who = by === undefined ? '' : ` (${by})`;
  const message = `The session was restarted by an operator${who}${why === undefined ? '' : `: ${why}`}`;
  return { ...turnEnds.restartedByHand, reason: 'by_operator', message };
}
