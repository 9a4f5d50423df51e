import type { RateGrant, RateOrder } from '../policy/rateLimit.ts';

/**
 * Buckets of rate limits, for all processes that share the store. On the hot path, but not with every call: who asks takes a share in advance.
 * Nothing here throws.
 */
export interface RateStates {
  /**
   * Takes from a bucket, in one transaction of its own. A bucket that is not known yet is full. Undefined when the store cannot answer now: then
   * the process goes on with what it knows.
   * @param wallNow - wall time in ms.
   */
  draw(key: string, order: RateOrder, wallNow: number): RateGrant | undefined;
  /** Keeps what was told and spent, with the commit of this turn; takes nothing. What the same process draws before that is bound by it. */
  note(key: string, order: RateOrder, wallNow: number): void;
}

/** A bucket that nobody asked for since is forgotten after so long, in ms: it is full. */
export const forgetRatesMs = 7 * 24 * 3_600_000;
