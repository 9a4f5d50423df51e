import type { Effect } from '../policy/effects.ts';
import type { RatePlace } from './ratePlace.ts';
import type { EffectOutcome, FailureFacts } from '../policy/failure.ts';
import type { CallTrail, Waiting } from './callTrail.ts';
import type { CallTrace } from './tracing.ts';

/**
 * Progress of a call beyond one attempt that succeeds. A call has one of its own only when something of this is to be kept: these fields would make every
 * other call a third larger.
 */
export class CallProgress {
  waiting: Waiting | undefined = undefined;
  waitedMs = 0;
  /** End of its wait, in monotonic ms. It may be looked at before that. */
  waitUntil = 0;
  /** It was told that half of its limit has passed. */
  isPendingTold = false;
  /** It was let wait, and so is accepted: it is not refused any more for want of a permit. */
  accepted = false;
  /** An operator lets it go without waiting for its rate limit. */
  passesRate = false;
  /** It is not tried again, whatever its attempt ends with. */
  triesLast = false;
  /** Number of its new tries on the budget of retries. */
  retries = 0;
  /** Time in ms that it may still wait for restarts so as to be repeated; undefined before the first. */
  repeatLeftMs: number | undefined = undefined;
  /** The last attempt's failure, kept as the cause of what ends the call later. */
  lastFailure: FailureFacts | undefined = undefined;
  /** Known effect of all attempts together. */
  effect: EffectOutcome = 'not_started';
  /** An attempt may have acted, and only what goes on in its session may follow it. */
  goesOn = false;
  /** Effect of it as the server said. */
  learned: Effect | undefined = undefined;
  /** Place that it takes of the rate limits of its integration, where that has any. */
  rate: RatePlace | undefined = undefined;
  /** Time of the first attempt of a call with a reconcile rule (wall time), and the incarnation that its last one went to. */
  sentAt: number | undefined = undefined;
  incarnation: number | undefined = undefined;
  /** The key that it was given, and its input without that. */
  keyless: unknown = undefined;
  idempotencyKey: string | undefined = undefined;
  /** Effect that it waits to be known of: whether it took place itself, or a call that equals it. */
  openEffect: unknown = undefined;
  /** Aborts the fallback that runs. */
  fallback: AbortController | undefined = undefined;
  /** Trail of a session's call that waited, or failed an attempt. */
  trail: CallTrail | undefined = undefined;
  /** Follows it, where the host asks for telemetry. */
  trace: CallTrace | undefined = undefined;
}

/** That of all calls without one of their own. */
export const noProgress: Readonly<CallProgress> = new CallProgress();
