import type { BackoffPolicy } from './backoff.ts';
import type { BreakerPolicy } from './breaker.ts';
import type { RepeatAfter } from './effects.ts';
import type { RatePolicy } from './ratePolicy.ts';

/** Rules on how often and when a call is tried again. */
export interface RetryPolicy {
  /** Attempts in all, the first included; 1 switches retrying off. At least 1. */
  readonly maxAttempts: number;
  readonly backoff: BackoffPolicy;
  /** Most time spent waiting between attempts, in ms, summed over a call. `Infinity`: no limit but the overall one. */
  readonly maxTotalWaitMs: number;
  /**
   * After what a call of unspecified effect is tried again: after a refusal alone, also when the connection broke, or also when the answer
   * was lost because a limit passed or the process died. A `mutating` call has `'refused'`, one that is `readOnly` or `idempotent` `'lost'`.
   */
  readonly repeatAfter: RepeatAfter;
  /** True where failures of kind `unknown` are tried again. */
  readonly retryUnknown: boolean;
  /** Factor by which the waits are longer after `overloaded`. At least 1. */
  readonly overloadedFactor: number;
}

/** The three clocks of a call, in ms; `Infinity` switches one off. When two tie, the inner one names the reason. */
export interface Limits {
  /** Without a sign of life (`ctx.touch()`, output, progress), per attempt, in ms above 0 or `Infinity`. The innermost. */
  readonly idleMs: number;
  /** Per attempt, whatever it reports, in ms above 0 or `Infinity`. */
  readonly attemptMs: number;
  /** Per call, waits and retries included, in ms above 0 or `Infinity`. The outermost. */
  readonly overallMs: number;
}

/** Everything that steers one integration. */
export interface IntegrationPolicy {
  readonly retry: RetryPolicy;
  readonly limits: Limits;
  readonly breaker: BreakerPolicy;
  /** Attempts in flight at once. At least 1. @defaultValue 100 */
  readonly maxInFlight: number;
  /** Calls that may wait for a free place; one more gets `too_many_requests`. At least 0. @defaultValue 0 */
  readonly queueLength: number;
  /** Time that the work of an ended attempt may go on after its abort before it is written off, in ms. @defaultValue 5000 */
  readonly abortGraceMs: number;
  /** Written-off attempts that are replaced; one more and the integration is `crashed`. @defaultValue 100 */
  readonly maxAbandoned: number;
  /** A 429 hint up to this pauses the integration, a longer one is `quota`, in ms. @defaultValue 60000 */
  readonly maxPauseMs: number;
  /** Time that a new call waits for a crashed integration to restart, in ms above 0. @defaultValue 5000 */
  readonly restartWaitMs: number;
  /**
   * Time that a call that is to be repeated waits for restarts in all, in ms above 0; then it ends with what it was lost by. Below the 30 s after which most
   * clients give up.
   * @defaultValue 20000
   */
  readonly repeatWaitMs: number;
  /** Its rate limits. @defaultValue none; of an HTTP API those that its answers tell */
  readonly rate?: RatePolicy | undefined;
}
