import type { CallPathOptions } from '../../src/calls/callPathOptions.ts';
import { DeadlineQueue } from '../../src/calls/deadlineQueue.ts';
import type { BudgetParts } from '../../src/calls/rates/budgetAccount.ts';
import { IntegrationRates, type RateFunctions } from '../../src/calls/rates/integrationRates.ts';
import type { Operation } from '../../src/calls/operation.ts';
import { RateBuckets } from '../../src/calls/rates/rateBuckets.ts';
import type { Clock } from '../../src/policy/clock.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { type RatePolicy, usualRate } from '../../src/policy/ratePolicy.ts';
import { StoredRates } from '../../src/runtime/rateKeeper.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { startIntegration, type Started } from './startIntegration.ts';

/** Rate limits of one process without a store. */
export function ownRates(clock: Clock): RateBuckets {
  return new RateBuckets(new StoredRates(clock, () => undefined));
}

export interface RatedOptions {
  readonly policy?: PolicyInput;
  readonly functions?: RateFunctions<string>;
  readonly operation?: Operation<string, string>;
  readonly extra?: Partial<CallPathOptions<string, string>>;
  /** Another that it shares its clock and buckets with. */
  readonly beside?: StartedRated;
}

export interface StartedRated extends Started {
  readonly rates: RateBuckets;
  readonly warnings: readonly string[];
}

/** An integration with rate limits on a simulated clock. */
export function startRated(rate: Partial<RatePolicy>, options: RatedOptions = {}): StartedRated {
  const { policy = {}, functions = {}, operation, extra, beside } = options;
  const clock = beside?.clock ?? new SimulatedClock();
  const deadlines = beside?.deadlines ?? new DeadlineQueue(clock);
  const rates = beside?.rates ?? ownRates(clock);
  const warnings: string[] = [];
  const note = (message: string): void => void warnings.push(message);
  const parts = { rates, deadlines, logger: { debug: note, info: note, warn: note, error: note } };
  const limits = { ...usualRate, ...rate };
  const own = new IntegrationRates<string>('kb', limits, functions, parts);
  const started = startIntegration(policy, operation, { clock, deadlines, rate: own, ...extra });
  return { ...started, clock, deadlines, rates, warnings };
}

/** Budgets of a runtime without a store, of which nothing is told. */
export const ownBudgets = (clock: Clock): BudgetParts => ({
  keeper: new StoredRates(clock, () => undefined),
  facts: { tell: () => undefined },
  accounts: new Map(),
});
