import { type Effect, type RepeatAfter, repeatChoices } from '../effects.ts';
import { type EffectOutcome, type FailureFacts, type FailureKind, failureKinds } from './failure.ts';
import type { RetryPolicy } from '../policy.ts';

/**
 * Tells whether a failed attempt may be repeated: its kind must be one that is retried (or the other side said so), and the call must be harmless to repeat
 * after what happened. The other side's word on retrying never counts for more than the effect of the call.
 * @param effect - undefined when nobody said; the policy decides then.
 */
export function mayRetry(
  facts: FailureFacts,
  effect: Effect | undefined,
  policy: Pick<RetryPolicy, 'repeatAfter' | 'retryUnknown'>,
): boolean {
  if (!kindAllows(facts, policy)) return false;
  // The next attempt goes on where this one ended.
  if (effect === undefined && facts.resumable === true) return true;
  return mayRepeat(facts, effect, policy.repeatAfter);
}

/** Tells whether a call of that effect may be made again, here or elsewhere, after it failed like this. */
export function mayRepeat(
  failure: Pick<FailureFacts, 'kind' | 'outcome' | 'leaves'>,
  effect: Effect | undefined,
  repeatAfter: RepeatAfter,
): boolean {
  if (failure.outcome === 'done') return false;
  const left = leftOpen(failure);
  if (left === 'refused') return true;
  if (effect !== undefined) return effect !== 'mutating';
  return repeatChoices.indexOf(left) <= repeatChoices.indexOf(repeatAfter);
}

/**
 * Tells whether the caller of a call that ended like this may make it again as it is, and may get through then: what `retryable` of a failure says. If it may
 * have taken effect, as far as it would have been repeated here: attempts that go on in a session repeat nothing, and another call begins anew.
 */
export function isRetryable(end: End, effect: Effect | undefined, repeatAfter: RepeatAfter): boolean {
  if (end.resumable === true && effect === undefined && leavesEffectOpen(end, effect)) return false;
  return mayGetThrough(end) && mayRepeat(end, effect, repeatAfter);
}

type End = Pick<FailureFacts, 'kind' | 'reason' | 'outcome' | 'leaves' | 'shouldRetry' | 'retryAfterMs' | 'resumable'>;

/** Tells whether the same call may get through later, whatever that would do to the world. */
export function mayGetThrough(end: End): boolean {
  const { kind, outcome, retryAfterMs = 0 } = end;
  // A call that did not happen is still to be done, and who names a time expects it then.
  return (
    saidOfRetrying(end) ??
    (failureKinds[kind].retried || refused.has(kind) || outcome === 'not_done' || retryAfterMs > 0)
  );
}

/** Kinds of failure that ended a call before it was sent. */
const refused: ReadonlySet<FailureKind> = new Set(['circuit_open', 'too_many_requests', 'unavailable']);

/** Tells whether a failed attempt leaves open if it had an effect that another one would have again. */
export function leavesEffectOpen(
  failure: Pick<FailureFacts, 'kind' | 'outcome' | 'leaves'>,
  effect: Effect | undefined,
): boolean {
  const mayMatter = effect === undefined || effect === 'mutating';
  return mayMatter && failure.outcome !== 'done' && leftOpen(failure) !== 'refused';
}

/** Tells what a failed attempt leaves open. */
function leftOpen({ kind, outcome, leaves }: Pick<FailureFacts, 'kind' | 'outcome' | 'leaves'>): RepeatAfter {
  if (known.has(outcome)) return 'refused';
  if (leaves !== undefined) return leaves;
  return unanswered.has(kind) ? 'lost' : 'broken';
}

/** That nothing was done is known. */
const known: ReadonlySet<EffectOutcome> = new Set(['not_started', 'failed', 'not_done']);

/** Kinds of failure with which nothing came back, or nothing that can be read. */
const unanswered: ReadonlySet<FailureKind> = new Set(['timeout', 'crash', 'protocol', 'cancelled', 'watchdog']);

/** Kinds that the other side cannot talk us out of: the same call would get the same answer, or the caller ended it. */
const final: ReadonlySet<FailureKind> = new Set(['auth', 'permanent', 'cancelled', 'spinning']);

function kindAllows(facts: FailureFacts, policy: Pick<RetryPolicy, 'retryUnknown'>): boolean {
  const { kind } = facts;
  return saidOfRetrying(facts) ?? (failureKinds[kind].retried || (kind === 'unknown' && policy.retryUnknown));
}

/** Returns what was said of retrying, as far as it counts. */
function saidOfRetrying({ kind, reason, shouldRetry }: End): boolean | undefined {
  // A restart by hand is meant for the server, not for the call.
  if (kind === 'cancelled' && reason === 'restarted') return true;
  return shouldRetry === true && final.has(kind) ? undefined : shouldRetry;
}
