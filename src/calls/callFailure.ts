import { type Failure, type FailureFacts, failureKinds } from '../policy/failures/failure.ts';
import { isRetryable } from '../policy/failures/repetition.ts';
import type { Call } from './call.ts';
import { classify, type ErrorPattern } from '../policy/failures/classify.ts';

/** The failure that a call ends with, made of the facts that ended it. @param integration - its name. */
export function callFailure<I, O>(call: Call<I, O>, facts: FailureFacts, integration: string): Failure {
  const isUntouched = call.ending === 'refused' && call.progress.effect === 'not_started';
  if (isUntouched && facts.kind === 'circuit_open') return refusedByCircuit(facts, integration);
  const outcome = call.effectAtEnd(facts);
  const isOpen = outcome === 'unknown' || outcome === 'cancelled';
  const effect = isOpen ? call.expectedEffect : undefined;
  const { kind, reason, leaves, shouldRetry, retryAfterMs } = facts;
  const resumable = facts.resumable ?? (call.progress.goesOn || undefined);
  const end = { kind, reason, outcome, leaves, shouldRetry, retryAfterMs, resumable };
  // A call that is kept is not made again by the same one: it joins it.
  const retryable = facts.kept !== undefined || isRetryable(end, call.expectedEffect, call.settings.retry.repeatAfter);
  // A spread with further fields takes V8 ten times as long.
  const failure: Writable<Failure> = Object.assign({}, facts, {
    outcome,
    integration,
    attempts: call.attempts,
    retryable,
  });
  if (effect !== undefined) failure.effect = effect;
  // The overall limit passed in our own queue: as little as a refusal says it anything of the integration.
  if (call.attempts === 0 && kind === 'timeout') failure.alerts = false;
  if (isOpen && isKnown(facts)) failure.lastOutcome = facts.outcome;
  // Rounded up: a caller that waits so long does not come too early.
  if (retryAfterMs !== undefined) failure.retryAfterMs = Math.ceil(retryAfterMs);
  return failure;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The facts that end a call for a reason of its caller's, with what they say of its effect: while none of its attempts is under way nothing more can come of
 * it, and what those before have left is known. A call that was held back is about the one that it equals.
 */
export function knownAtEnd<I, O>(call: Call<I, O>, facts: FailureFacts): FailureFacts {
  const isOpen = mayHaveBegun(call) || call.progress.fallback !== undefined;
  return isOpen || facts.how !== undefined || facts.outcome === 'not_started'
    ? facts
    : Object.assign({}, facts, { outcome: 'not_started' as const });
}

/** Tells whether work is under way for a call, or has been: an attempt of its own, or the work of the one that it equals. */
export const mayHaveBegun = <I, O>({ attempt, waiting }: Call<I, O>): boolean =>
  attempt !== undefined || waiting === 'reconciling';

/** Ends a call on an open circuit, written out: to spread its facts would cost more than all the rest of such a call. */
function refusedByCircuit({ kind, reason, message, retryAfterMs, cause }: FailureFacts, integration: string): Failure {
  return {
    kind,
    reason,
    message,
    outcome: 'not_started',
    retryAfterMs,
    cause,
    integration,
    attempts: 0,
    retryable: true,
  };
}

/** Tells whether an attempt that failed like this had no effect. */
function isKnown({ outcome }: FailureFacts): boolean {
  return outcome === 'failed' || outcome === 'not_started';
}

/**
 * Turns a throw of an attempt into facts the call path can count on: an operation that names its own facts may be wrong about them. A kind that does not
 * exist is `unknown`, a hint that is no time is none, and one above the cap of pauses is a `quota`.
 */
export function attemptFacts(
  error: unknown,
  wallNow: number,
  maxPauseMs: number,
  patterns?: readonly ErrorPattern[],
): FailureFacts {
  const facts = classify(error, { wallNow, maxPauseMs, patterns });
  const { retryAfterMs } = facts;
  const isTime = retryAfterMs === undefined || (Number.isFinite(retryAfterMs) && retryAfterMs >= 0);
  const hintMs = isTime ? retryAfterMs : undefined;
  const kind = Object.hasOwn(failureKinds, facts.kind) ? facts.kind : 'unknown';
  const tooLong = kind === 'rate_limit' && hintMs !== undefined && hintMs > maxPauseMs;
  return kind === facts.kind && isTime && !tooLong
    ? facts
    : { ...facts, kind: tooLong ? 'quota' : kind, retryAfterMs: hintMs };
}
