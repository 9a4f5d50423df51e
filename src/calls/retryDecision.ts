import { backoffDelayMs } from '../policy/backoff.ts';
import type { Random } from '../policy/clock.ts';
import { mayRetry } from '../policy/repetition.ts';
import type { FailureFacts } from '../policy/failure.ts';
import type { Call } from './call.ts';
import { notTriedAgain } from './refusal.ts';

/** Step after a failed attempt: the call ends, waits and draws on the budget, or waits for the restart, which costs nothing. */
export type RetryDecision =
  | { readonly step: 'end'; readonly facts: FailureFacts }
  | { readonly step: 'wait'; readonly delayMs: number }
  | { readonly step: 'restart' };

/** Facts that the decision depends on besides the call. */
export interface Moment {
  readonly now: number;
  readonly random: Random;
  /** True where the circuit is open as of this failure. */
  readonly open: boolean;
  readonly crashed: boolean;
  /** Time at which all calls will be cut, in monotonic ms; `Infinity` while nobody stops. */
  readonly cutAt: number;
  /** Gives the facts that end a call while the circuit is open; asked only then. */
  readonly circuitOpen: (cause: FailureFacts) => FailureFacts;
  /** Takes a retry from the integration's budget. */
  readonly takeRetry: () => boolean;
}

/** Decides what follows a failed attempt. The order is the contract: the first rule that ends the call names the failure. */
export function decideRetry<I, O>(call: Call<I, O>, facts: FailureFacts, moment: Moment): RetryDecision {
  const { retry, stream } = call.settings;
  const isLast = call.attempts >= retry.maxAttempts || call.progress.triesLast;
  if (isLast || stream?.continuation === 'none') return { step: 'end', facts };
  const left: FailureFacts = stream?.continuation === 'resumes' ? { ...facts, resumable: true } : facts;
  if (!mayRetry(left, call.expectedEffect, retry)) return { step: 'end', facts };
  if (moment.now >= call.overallDue) return { step: 'end', facts };
  if (moment.open) return { step: 'end', facts: moment.circuitOpen(facts) };

  // A call that the server asked to wait does so, whatever happens meanwhile.
  const awaitsRestart = moment.crashed && (facts.retryAfterMs ?? 0) === 0;
  const delayMs = awaitsRestart ? 0 : retryDelayMs(call, facts, moment.random);
  // A wait that does not fit is not slept: the caller learns now what it would learn later.
  const fits = call.progress.waitedMs + delayMs <= retry.maxTotalWaitMs && moment.now + delayMs < call.overallDue;
  if (!fits) return { step: 'end', facts };
  if (moment.now + delayMs >= moment.cutAt) return { step: 'end', facts: notTriedAgain(facts) };
  // Calls that a crash took with it are no more load than there was before: the budget guards against retries that multiply.
  if (awaitsRestart) return { step: 'restart' };
  if (!moment.takeRetry()) return { step: 'end', facts: { ...facts, reason: 'retry_budget' } };
  return { step: 'wait', delayMs };
}

function retryDelayMs<I, O>(call: Call<I, O>, facts: FailureFacts, random: Random): number {
  const { retry } = call.settings;
  const backoffMs = backoffDelayMs(retry.backoff, call.attempts + 1, random);
  const slowedMs = facts.kind === 'overloaded' ? backoffMs * retry.overloadedFactor : backoffMs;
  return Math.max(slowedMs, facts.retryAfterMs ?? 0);
}
