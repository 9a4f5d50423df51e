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

/** Which limit of an attempt has run out; of two that tie the inner one. */
export function expiredLimit<I, O>(
  { call, lastSignAt, startedAt, limitMs }: Attempt<I, O>,
  now: number,
): { readonly reason: FailureReason; readonly limitMs: number } {
  const { idleMs, attemptMs, overallMs } = call.settings;
  if (now >= lastSignAt + idleMs) return { reason: 'idle_timeout', limitMs: idleMs };
  if (now >= startedAt + attemptMs) return { reason: 'attempt_timeout', limitMs: attemptMs };
  if (now >= call.overallDue) return { reason: 'overall_timeout', limitMs: overallMs };
  return { reason: 'lease_expired', limitMs };
}
