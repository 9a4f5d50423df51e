import { type Given, integer, number, type Values } from './options/optionKeys.ts';
import { readOptions } from './options/readOptions.ts';

/** Budget of retries that an integration may make for its successes; after the retry quota of the AWS SDKs. */
const budgetKeys = {
  /** Tokens at the start and at most, at least 1. @defaultValue 100 */
  capacity: integer({ default: 100 }),
  /** Tokens a retry costs, at least 0. @defaultValue 5 */
  cost: number({ default: 5 }),
  /** Tokens a success at the first try returns, at least 0. @defaultValue 1 */
  refund: number({ default: 1 }),
};

/** Keeps retries from multiplying an outage: many calls may not retry for long, a lone one always may. */
export class RetryBudget {
  /** True while no success adds to it. */
  isFull = true;
  readonly #policy: Values<typeof budgetKeys>;
  #tokens: number;

  /** @throws TypeError or RangeError that names the option and its value. */
  constructor(policy: Given<typeof budgetKeys> = {}) {
    this.#policy = readOptions('retryBudget', policy, budgetKeys);
    this.#tokens = this.#policy.capacity;
  }

  /** Tokens left, 0 to the capacity. */
  get tokens(): number {
    return this.#tokens;
  }

  /**
   * Takes a retry from the budget; false when it is used up.
   * @param retryingNow - other calls that are being retried; a lone call is never blocked, and pays what there is.
   */
  tryRetry(retryingNow: number): boolean {
    if (this.#tokens < this.#policy.cost && retryingNow > 0) return false;
    this.#give(-this.#policy.cost);
    return true;
  }

  /** A call succeeded at its first attempt. */
  succeededAtFirst(): void {
    this.#give(this.#policy.refund);
  }

  /** A call succeeded after this many retries: it gets their cost back. */
  succeededAfter(retries: number): void {
    this.#give(retries * this.#policy.cost);
  }

  #give(tokens: number): void {
    const { capacity } = this.#policy;
    this.#tokens = Math.max(0, Math.min(capacity, this.#tokens + tokens));
    this.isFull = this.#tokens === capacity;
  }
}
