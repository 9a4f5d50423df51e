// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { defaultAlertRule, deliveryNames } from './alerts.ts';
export { type BackoffPolicy, backoffDelayMs } from './backoff.ts';
export { breakerOutcome, openForMs, openingRule } from './breaker.ts';
export { type BreakerRule, breakerRuleNote, breakerRuleText, readBreakerRule, reopeningRule } from './breakerRule.ts';
export { type BudgetInput, budgetIn, budgetKey, limitIn, type Metric, metrics, type Per } from './budget.ts';
export { type Clock, type Random, type Stalls, type Timer, type TimerOptions, longStallMs } from './clock.ts';
export { type Effect, type RepeatAfter, effects } from './effects.ts';
export { inTime } from './inTime.ts';
export type { InputNames } from './integrationAbout.ts';
export { type BudgetAnswer, type OrderNote, type OrderResult, done, notDone, noteIn, said } from './operatorOrder.ts';
export {
  type IntegrationSettings,
  type Policies,
  type PoliciesOptions,
  type WhenAlive,
  checkPolicies,
  maxResultKey,
  whenAliveChoices,
} from './policies.ts';
export type { IntegrationPolicy, Limits, RetryPolicy } from './policy.ts';
export { type PolicyInput, type RetryInput, policyKey, policyKeys } from './policyInput.ts';
export { resolvePolicy } from './presetChain.ts';
export { type PresetName, defaultPolicy, presets } from './presets.ts';
export { type RateGrant, type RateLevels, type RateOrder, takeFrom } from './rateLimit.ts';
export { type RatePolicy, isRated, rateWaitText, usualRate } from './ratePolicy.ts';
export type { Finding } from './reconcileMatch.ts';
export type { ReconcileLimits, ReconcileOptions, Verdict } from './reconcileRule.ts';
export type { AskingRule, ReconcileLog, Reconciler } from './reconciler.ts';
export type { Retention } from './retention.ts';
export { RetryBudget } from './retryBudget.ts';
export { type Tools, toolLimits, toolAccessKeys } from './toolOptions.ts';
export { ToolRules } from './toolRules.ts';
export { ByPattern } from './byPattern.ts';
