import type { BackoffPolicy } from './backoff.ts';
import type { Budget } from './budget.ts';
import type { BreakerPolicy } from './breaker.ts';
import type { Made } from './options/optionKeys.ts';
import type { limitsKeys, retryKeys, steeringKeys } from './policyInput.ts';
import type { RatePolicy } from './ratePolicy.ts';

/** Rules on how often and when a call is tried again. */
export interface RetryPolicy extends Made<typeof retryKeys> {
  readonly backoff: BackoffPolicy;
}

/** The three clocks of a call, in ms; `Infinity` switches one off. When two tie, the inner one names the reason. */
export interface Limits extends Made<typeof limitsKeys> {}

/** Everything that steers one integration. */
export interface IntegrationPolicy extends Made<typeof steeringKeys> {
  readonly retry: RetryPolicy;
  readonly limits: Limits;
  readonly breaker: BreakerPolicy;
  /** Budget of its calls. @defaultValue none */
  readonly budget?: Budget | undefined;
  /** Its rate limits. @defaultValue none; of an HTTP API those that its answers tell */
  readonly rate?: RatePolicy | undefined;
}
