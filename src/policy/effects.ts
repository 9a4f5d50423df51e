import { type FailureFacts, failureKinds } from './failure.ts';
import type { RetryPolicy } from './policy.ts';

/** What a call may do to the world: nothing, the same however often, or something each time. */
export type Effect = 'readOnly' | 'idempotent' | 'mutating';

export const effects: readonly Effect[] = ['readOnly', 'idempotent', 'mutating'];

/**
 * Whether a failed attempt may be repeated: its kind must be one that is retried (or the other side said so), and a call whose
 * answer was lost must be harmless to repeat.
 */
export function mayRetry(
  facts: FailureFacts,
  effect: Effect | undefined,
  policy: Pick<RetryPolicy, 'retryUnspecified' | 'retryUnknown'>,
): boolean {
  const byKind = failureKinds[facts.kind].retried || (facts.kind === 'unknown' && policy.retryUnknown);
  if (!(facts.shouldRetry ?? byKind)) return false;
  if (facts.outcome === 'not_started' || facts.outcome === 'failed') return true;
  if (effect === undefined) return policy.retryUnspecified;
  return effect !== 'mutating';
}
