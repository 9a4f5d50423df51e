import type { FailureReason } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';

/** When the first limit of an attempt runs out, in whole ms and as far as is known now: a sign of life moves it. */
export function dueOf<I, O>({ call, lastSignAt, startedAt, limitMs }: Attempt<I, O>): number {
  return Math.ceil(Math.min(lastSignAt + call.settings.idleMs, startedAt + limitMs, call.overallDue));
}

/** The same for an attempt that starts now: to read it back from the attempt would make numbers that V8 has to allocate. */
export function firstDueOf<I, O>(call: Call<I, O>, limitMs: number, now: number): number {
  return Math.ceil(Math.min(now + call.settings.idleMs, now + limitMs, call.overallDue));
}

/** A limit that has run out. */
export interface ExpiredLimit {
  readonly reason: FailureReason;
  readonly limitMs: number;
  /** The caller made it shorter than the integration has it: that it passed says nothing about the integration. */
  readonly isShortened: boolean;
}

/** Which limit of an attempt has run out; of two that tie the inner one. */
export function expiredLimit<I, O>({ call, lastSignAt, startedAt, limitMs }: Attempt<I, O>, now: number): ExpiredLimit {
  const { idleMs, attemptMs, overallMs, ownLimits = call.settings } = call.settings;
  const passed = (reason: FailureReason, limit: number, own: number): ExpiredLimit => {
    return { reason, limitMs: limit, isShortened: limit < own };
  };
  if (now >= lastSignAt + idleMs) return passed('idle_timeout', idleMs, ownLimits.idleMs);
  if (now >= startedAt + attemptMs) return passed('attempt_timeout', attemptMs, ownLimits.attemptMs);
  if (now >= call.overallDue) return passed('overall_timeout', overallMs, ownLimits.overallMs);
  return passed('lease_expired', limitMs, limitMs);
}
