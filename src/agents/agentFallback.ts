import type { Effect } from '../policy/effects.ts';
import { type Failure, type FailureKind, IntegrationError } from '../policy/failure.ts';
import { isHarmless } from './claudeTrail.ts';

/** What another agent cannot cure: it was asked for, or the request is wrong. */
const incurable: ReadonlySet<FailureKind> = new Set(['permanent', 'cancelled', 'watchdog']);

/**
 * Whether another agent may go on with a turn that failed: for a reason that is not the request's own, and, after
 * something may have taken effect, only where that is allowed.
 */
export function mayFallBack(failure: Failure, effect: Effect | undefined, afterEffects: boolean): boolean {
  if (incurable.has(failure.kind) || failure.reason === 'scope_busy') return false;
  if (failure.outcome === 'not_started' || failure.outcome === 'failed') return true;
  return isHarmless(effect) || (effect === undefined && afterEffects);
}

/** The agent's own failure, with both behind it. */
export function bothFailed(own: Failure, others: Failure): Failure {
  const cause = new AggregateError(
    [new IntegrationError(own), new IntegrationError(others)],
    `${own.integration} failed, and so did ${others.integration}: ${others.message}`,
  );
  // What the second one did counts as well.
  return { ...own, outcome: others.outcome === 'unknown' ? 'unknown' : own.outcome, cause };
}

/** The end of a turn that was aborted after its agent had failed. */
export function cancelledAfter(own: Failure, { reason }: AbortSignal): Failure {
  const why = reason instanceof Error ? reason.message : 'by the caller';
  return {
    kind: 'cancelled',
    message: `Cancelled: ${why}`,
    outcome: own.outcome === 'unknown' ? 'unknown' : 'cancelled',
    integration: own.integration,
    attempts: own.attempts,
    retryable: false,
    cause: new IntegrationError(own),
  };
}
