import type { UntakenMessage } from '../../src/gateway/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';

/** Time that a message may wait while nothing is done in its session, in ms: an actor that restarts takes a few seconds. */
const patienceMs = 30_000;

export interface ReadinessParts {
  readonly phase: 'starting' | 'running' | 'stopping';
  /** True where what is accepted now is kept. */
  readonly keeps: boolean;
  /** Messages that nobody takes. */
  readonly untaken: readonly UntakenMessage[];
  /** True while no further session can be held. */
  readonly isFull: boolean;
}

/** Readiness for new work here, and if there is none, why: one sentence each. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/**
 * Ready is what makes progress, not what merely answers: where a message waits that nobody takes, none is made. Messages for sessions that this gateway
 * does not have are none of its own: that would be every gateway on the store, for as long as nobody has them (`unwedge cluster` and `letters` show them).
 */
export function readinessOf({ phase, keeps, untaken, isFull }: ReadinessParts): Readiness {
  const reasons: string[] = [];
  if (phase === 'starting') reasons.push('It is starting.');
  if (phase === 'stopping') reasons.push('It is stopping: what is under way may end, and nothing new is begun.');
  if (!keeps) reasons.push('The store is out of order: what is accepted now would not survive a restart.');
  if (isFull) reasons.push('It holds as many sessions as it may (--max-sessions): it takes no new one.');
  for (const { session, waitMs, here } of untaken) {
    if (!here || waitMs <= patienceMs) continue;
    reasons.push(`A message of ${session} has waited for ${formatDuration(waitMs)}, and nothing works on it.`);
  }
  return { ready: reasons.length === 0, reasons };
}
