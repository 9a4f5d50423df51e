import type { Effect } from '../../src/policy/face.ts';
import { type Failure, type FailureKind, IntegrationError } from '../../src/policy/failures/face.ts';
import { isHarmless } from '../../src/protocol/face.ts';

/** Failures that another agent cannot cure: it was asked for, or the request is wrong. */
const incurable: ReadonlySet<FailureKind> = new Set(['permanent', 'cancelled', 'watchdog', 'spinning']);

/**
 * Tells whether another agent may go on with a turn that failed: for a reason that is not the request's own, and, after something may have taken
 * effect, only where that is allowed.
 */
export function mayFallBack(failure: Failure, effect: Effect | undefined, afterEffects: boolean): boolean {
  if (incurable.has(failure.kind) || failure.reason === 'scope_busy') return false;
  if (failure.outcome === 'not_started' || failure.outcome === 'failed') return true;
  return isHarmless(effect) || (effect === undefined && afterEffects);
}

/**
 * The agent's own failure, with both behind it in their order.
 * @param isOver - the limit on the turn has passed while the other one was at it: that is then what is told of.
 */
export function bothFailed(own: Failure, others: Failure, isOver: boolean): Failure {
  const fallbackError = new IntegrationError(others);
  const cause = new AggregateError(
    [new IntegrationError(own), fallbackError],
    `${own.integration} failed, and so did ${others.integration}: ${others.message}`,
  );
  // Effects of either of them count as well.
  const outcome = [own, others].find((each) => each.outcome === 'unknown')?.outcome ?? own.outcome;
  return { ...(isOver ? others : own), outcome, cause, fallbackError };
}

/** Returns the failures of both, where a fallback failed too; else the one there is. In the order in which they were asked. */
export function failuresOf(failure: Failure): readonly Failure[] {
  const { cause } = failure;
  const errors: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [];
  const both = errors.filter((error) => error instanceof IntegrationError).map((error) => error.failure);
  return failure.fallbackError === undefined || both.length < 2 ? [failure] : both;
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
