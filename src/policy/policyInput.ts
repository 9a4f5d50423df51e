import { backoffKey, exponential } from './backoff.ts';
import { type BreakerInput, breakerKeys } from './breaker.ts';
import { budgetKey } from './budget.ts';
import { type RepeatAfter, repeatChoices } from './effects.ts';
import {
  boolean,
  choice,
  duration,
  type GivenValues,
  integer,
  more,
  number,
  section,
  test,
  text,
  type Given,
} from './options/optionKeys.ts';
import { ratePolicyKey } from './ratePolicy.ts';

/** four attempts in all, after waits of 1, 2 and 4 s. */
export const usualPolicy = {
  retry: {
    maxAttempts: 4,
    backoff: exponential(1000, 8000),
    maxTotalWaitMs: Number.POSITIVE_INFINITY,
    repeatAfter: 'broken' as RepeatAfter,
    retryUnknown: false,
    overloadedFactor: 2,
  },
  limits: { idleMs: 120_000, attemptMs: 600_000, overallMs: 1_800_000 },
  maxInFlight: 100,
  queueLength: 0,
  abortGraceMs: 5000,
  maxAbandoned: 100,
  maxPauseMs: 60_000,
  restartWaitMs: 5000,
  repeatWaitMs: 20_000,
};

const { retry, limits } = usualPolicy;

export const retryKeys = {
  /** Attempts in all, the first included; 1 switches retrying off. At least 1. @defaultValue that of the preset; 3 for most */
  maxAttempts: integer({
    inherited: retry.maxAttempts,
    help: 'Attempts in all, the first included; 1 switches retrying off.',
  }),
  /** The waits between attempts. @defaultValue that of the preset */
  backoff: more(backoffKey, { inherited: retry.backoff }),
  /** Most time spent waiting between attempts, in ms, summed over a call. `Infinity`: no limit but the overall one. */
  maxTotalWaitMs: duration({
    zero: true,
    infinite: true,
    inherited: retry.maxTotalWaitMs,
    help: 'Most time spent waiting between the attempts of a call.',
  }),
  /**
   * After what a call of unspecified effect is tried again: after a refusal alone, also when the connection broke, or also when the answer
   * was lost because a limit passed or the process died. A `mutating` call has `'refused'`, one that is `readOnly` or `idempotent` `'lost'`.
   */
  repeatAfter: choice(repeatChoices, {
    inherited: retry.repeatAfter,
    help: 'After what a call is tried again of which nobody said what it may do: when it was refused, also when the connection broke, or also when the answer was lost because a limit passed or the process died.',
  }),
  /** True where failures of kind `unknown` are tried again. */
  retryUnknown: boolean({
    inherited: retry.retryUnknown,
    help: 'Whether failures of kind `unknown` are tried again.',
  }),
  /** Factor by which the waits are longer after `overloaded`. At least 1. */
  overloadedFactor: number({
    min: 1,
    inherited: retry.overloadedFactor,
    help: 'How many times longer the waits are after `overloaded`.',
  }),
};

/** Rules on how often and when a call is tried again, as they may be given. */
export interface RetryInput extends Given<typeof retryKeys> {}

export const limitsKeys = {
  /** Without a sign of life (`ctx.touch()`, output, progress), per attempt, in ms above 0 or `Infinity`. The innermost. */
  idleMs: duration({
    infinite: true,
    inherited: limits.idleMs,
    help: 'Limit without a sign of life, for each attempt.',
  }),
  /** Per attempt, whatever it reports, in ms above 0 or `Infinity`. */
  attemptMs: duration({ infinite: true, inherited: limits.attemptMs, help: 'Limit on each attempt.' }),
  /** Per call, waits and retries included, in ms above 0 or `Infinity`. The outermost. */
  overallMs: duration({
    infinite: true,
    inherited: limits.overallMs,
    help: 'Limit on a call, waits and retries included.',
  }),
};

/** The three clocks of a call, as they may be given. */
interface LimitsInput extends Given<typeof limitsKeys> {}

/** Figures that steer an integration beside its rules. */
export const steeringKeys = {
  /** Attempts in flight at once. At least 1. @defaultValue 100 */
  maxInFlight: integer({
    inherited: usualPolicy.maxInFlight,
    help: 'Attempts in flight at once. A call that is kept after its limit is none.',
  }),
  /** Calls that may wait for a free place; one more gets `too_many_requests`. At least 0. @defaultValue 0 */
  queueLength: integer({
    min: 0,
    inherited: usualPolicy.queueLength,
    help: 'Calls that may wait for a free place.',
  }),
  /** Time that the work of an ended attempt may go on after its abort before it is written off, in ms. @defaultValue 5000 */
  abortGraceMs: duration({
    inherited: usualPolicy.abortGraceMs,
    help: 'How long the work of an ended attempt may go on before it is written off.',
  }),
  /** Written-off attempts that are replaced; one more and the integration is `crashed`. @defaultValue 100 */
  maxAbandoned: integer({
    min: 0,
    inherited: usualPolicy.maxAbandoned,
    help: 'Written-off attempts that are replaced; one more and the integration is `crashed`.',
  }),
  /** A 429 hint up to this pauses the integration, a longer one is `quota`, in ms. @defaultValue 60000 */
  maxPauseMs: duration({
    inherited: usualPolicy.maxPauseMs,
    help: 'A `retry-after` up to this pauses the integration, a longer one is `quota`.',
  }),
  /** Time that a new call waits for a crashed integration to restart, in ms above 0. @defaultValue 5000 */
  restartWaitMs: duration({
    inherited: usualPolicy.restartWaitMs,
    help: 'How long a new call waits for a crashed integration to restart.',
  }),
  /**
   * Time that a call that is to be repeated waits for restarts in all, in ms above 0; then it ends with what it was lost by. Below the 30 s after which most
   * clients give up.
   * @defaultValue 20000
   */
  repeatWaitMs: duration({
    inherited: usualPolicy.repeatWaitMs,
    help: 'How long a call that is to be repeated waits for restarts in all.',
  }),
};

/** The options of a policy. */
export const policyKeys = {
  /**
   * Name of the preset it starts from: a built-in one, or one of the gateway's own (`policies.presets`).
   * @defaultValue the preset of what the policy is for; `sdk` for functions
   */
  extends: text({
    usually: 'the preset of the kind of integration',
    help: 'The preset or the policy under `policies.presets` that this one differs from.',
  }),
  /**
   * Limit on each attempt, in ms above 0 or `Infinity`: short for `limits.attemptMs`, but that it takes effect whatever was inherited: a
   * limit on the whole call that is not given here is raised to it, and so is an idle limit that did not end attempts any earlier. The
   * long form changes the one limit alone. At most a limit on the whole call that is given beside it.
   */
  attemptMs: duration({
    infinite: true,
    help: 'Short for `limits.attemptMs`, not beside it; what was inherited gives it room: an overall limit below it is raised to it.',
  }),
  /** Limit on an attempt without a sign of life, in ms above 0 or `Infinity`: short for `limits.idleMs`. */
  idleMs: duration({ infinite: true, help: 'Short for `limits.idleMs`; not beside it.' }),
  /** Limit on the whole call, waits and retries included, in ms above 0 or `Infinity`: short for `limits.overallMs`. */
  overallMs: duration({ infinite: true, help: 'Short for `limits.overallMs`; not beside it.' }),
  /** Attempts in all, the first included, at least 1: short for `retry.maxAttempts`. */
  maxAttempts: integer({ help: 'Short for `retry.maxAttempts`; not beside it.' }),
  /** Rules on how often and when a call is tried again. */
  retry: section(retryKeys, {
    given: {} as RetryInput,
    id: 'retry',
    help: 'How often and when a call is tried again.',
  }),
  /**
   * Whichever is over first ends the call or the attempt; when two tie, the inner one names the reason. All three together may be those of
   * another policy, as `{ ...integration.policy.limits }`: that on attempts may be longer than that on the whole call there, as it was inherited.
   */
  limits: section(limitsKeys, { given: {} as LimitsInput, id: 'limits', help: 'The three clocks of a call.' }),
  /** Rules by which the circuit opens, for how long, and how it is probed. */
  breaker: section(breakerKeys, {
    given: {} as BreakerInput,
    id: 'breaker',
    help: 'When the circuit opens, for how long, and how it is probed.',
  }),
  ...steeringKeys,
  /** Budget of all its calls: while it is spent they are refused as `spinning`. @defaultValue no limit */
  budget: budgetKey('What its calls may spend in a day: while that is spent they are refused.'),
  /** Rate limits: what does not fit waits within its deadline, or is refused. @defaultValue none; of an HTTP API what its answers tell */
  rate: ratePolicyKey,
};

/**
 * A policy as users write it: a preset, and what is to differ from it. Beside `retry` and `limits` there are short forms for what
 * differs most; of a figure either the short form or the long one may be given.
 */
export interface PolicyInput extends Given<typeof policyKeys> {}

/** The option of a policy, which is resolved by the caller. */
export const policyKey = test<PolicyInput>('an object', (value) => typeof value === 'object' && value !== null, {
  table: policyKeys,
});

/** A policy that was read; what it does not say comes from what it extends. */
export type ReadPolicy = GivenValues<typeof policyKeys>;
