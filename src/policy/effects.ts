import { type FailureFacts, type FailureKind, failureKinds } from './failure.ts';
import type { RetryPolicy } from './policy.ts';

/** What a call may do to the world: nothing, the same however often, or something each time. */
export type Effect = 'readOnly' | 'idempotent' | 'mutating';

/** All effects, for checks. */
export const effects: readonly Effect[] = ['readOnly', 'idempotent', 'mutating'];

/**
 * Whether a failed attempt may be repeated: its kind must be one that is retried (or the other side said so), and a call whose
 * answer was lost must be harmless to repeat.
 * @param effect - undefined when nobody said; the policy decides then.
 */
export function mayRetry(
  facts: FailureFacts,
  effect: Effect | undefined,
  policy: Pick<RetryPolicy, 'retryUnspecified' | 'retryUnknown'>,
): boolean {
  if (!kindAllows(facts, policy)) return false;
  if (facts.outcome === 'not_started' || facts.outcome === 'failed') return true;
  if (effect === undefined) return policy.retryUnspecified || facts.resumable === true;
  return effect !== 'mutating';
}

/** What the other side cannot talk us out of: the same call would get the same answer, or we ended the call ourselves. */
const final: ReadonlySet<FailureKind> = new Set([
  'auth',
  'permanent',
  'cancelled',
  'watchdog',
  'circuit_open',
  'too_many_requests',
  'unavailable',
]);

function kindAllows({ kind, reason, shouldRetry }: FailureFacts, policy: Pick<RetryPolicy, 'retryUnknown'>): boolean {
  // Who had the other side restarted did not mean the call.
  if (kind === 'cancelled' && reason === 'restarted') return true;
  if (shouldRetry !== undefined && !final.has(kind)) return shouldRetry;
  return failureKinds[kind].retried || (kind === 'unknown' && policy.retryUnknown);
}
