import type { FailureFacts } from '../policy/failure.ts';
import type { OrderNote } from '../policy/operatorOrder.ts';

/** What ends a message or a turn for a reason of the session's. */
export const turnEnds = {
  stopped: { kind: 'cancelled', reason: 'stopped', message: 'The session stops', outcome: 'cancelled' },
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
  takenOver: {
    kind: 'cancelled',
    reason: 'taken_over',
    message: 'Another gateway has taken the session over',
    outcome: 'unknown',
  },
} as const satisfies Readonly<Record<string, FailureFacts>>;

/** The same for the turn of a session that an operator has restarted. */
export function restartedBy({ by, why }: OrderNote): FailureFacts {
  if (by === undefined && why === undefined) return turnEnds.restartedByHand;
  const who = by === undefined ? '' : ` (${by})`;
  const message = `The session was restarted by an operator${who}${why === undefined ? '' : `: ${why}`}`;
  return { ...turnEnds.restartedByHand, reason: 'by_operator', message };
}
