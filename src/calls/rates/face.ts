// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { BudgetAccount } from './budgetAccount.ts';
export { IntegrationRates } from './integrationRates.ts';
export { RateBucket, type RateKeeper, type RateWaiter } from './rateBucket.ts';
export { RateBuckets } from './rateBuckets.ts';
export { RatePlace, type RatedCall, TypicalCosts } from './ratePlace.ts';
