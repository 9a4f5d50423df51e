import type { Effect } from '../policy/effects.ts';
import type { Failure, FailureKind } from '../policy/failure.ts';
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
