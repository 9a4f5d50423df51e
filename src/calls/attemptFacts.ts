import { classify, type ErrorPattern } from '../policy/classify.ts';
import { type FailureFacts, failureKinds } from '../policy/failure.ts';

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
