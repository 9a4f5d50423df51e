import { type BackoffInput, backoffKey } from './backoff.ts';
import { breakerKeys } from './breaker.ts';
import type { BreakerPolicy } from './breaker.ts';
import type { Duration, DurationLimit, Timed } from './duration.ts';
import { repeatChoices } from './effects.ts';
import {
  boolean,
  choice,
  duration,
  type GivenValues,
  integer,
  type KeysOf,
  number,
  section,
  test,
  text,
} from './optionKeys.ts';
import type { Limits, RetryPolicy } from './policy.ts';
import { defaultPolicy } from './presets.ts';
import { type RateInput, ratePolicyKey } from './ratePolicy.ts';

/** Fields that may be left out, or given as `undefined`. */
export type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Rules on how often and when a call is tried again, as they may be given. */
export type RetryInput = Given<Omit<RetryPolicy, 'backoff' | 'maxTotalWaitMs'>> & {
  /** @defaultValue that of the preset */
  readonly backoff?: BackoffInput | undefined;
  /** Most time spent waiting between attempts, in ms, summed over a call. `Infinity`: no limit but the overall one. */
  readonly maxTotalWaitMs?: DurationLimit | undefined;
};

/** The three clocks of a call, as they may be given. */
export type LimitsInput = { readonly [K in keyof Limits]?: DurationLimit | undefined };

/**
 * A policy as users write it: a preset, and what is to differ from it. Beside `retry` and `limits` there are short forms for what
 * differs most; of a figure either the short form or the long one may be given.
 */
export interface PolicyInput {
  /**
   * Name of the preset it starts from: a built-in one, or one of the gateway's own (`policies.presets`).
   * @defaultValue the preset of what the policy is for; `sdk` for functions
   */
  readonly extends?: string | undefined;
  /** Attempts in all, the first included, at least 1: short for `retry.maxAttempts`. */
  readonly maxAttempts?: number | undefined;
  /**
   * Limit on each attempt, in ms above 0 or `Infinity`: short for `limits.attemptMs`, but that it takes effect whatever was inherited: a
   * limit on the whole call that is not given here is raised to it, and so is an idle limit that did not end attempts any earlier. The
   * long form changes the one limit alone. At most a limit on the whole call that is given beside it.
   */
  readonly attemptMs?: DurationLimit | undefined;
  /** Limit on an attempt without a sign of life, in ms above 0 or `Infinity`: short for `limits.idleMs`. */
  readonly idleMs?: DurationLimit | undefined;
  /** Limit on the whole call, waits and retries included, in ms above 0 or `Infinity`: short for `limits.overallMs`. */
  readonly overallMs?: DurationLimit | undefined;
  readonly retry?: RetryInput | undefined;
  /**
   * Whichever is over first ends the call or the attempt; when two tie, the inner one names the reason. All three together may be those of
   * another policy, as `{ ...integration.policy.limits }`: that on attempts may be longer than that on the whole call there, as it was inherited.
   */
  readonly limits?: LimitsInput | undefined;
  readonly breaker?: Given<Timed<BreakerPolicy>> | undefined;
  readonly maxInFlight?: number | undefined;
  readonly queueLength?: number | undefined;
  readonly abortGraceMs?: Duration | undefined;
  readonly maxAbandoned?: number | undefined;
  readonly maxPauseMs?: Duration | undefined;
  readonly restartWaitMs?: Duration | undefined;
  readonly repeatWaitMs?: Duration | undefined;
  /** Rate limits: what does not fit waits within its deadline, or is refused. @defaultValue none; of an HTTP API what its answers tell */
  readonly rate?: RateInput | undefined;
}

const { retry, limits } = defaultPolicy;

const retryKeys = {
  maxAttempts: integer({
    inherited: retry.maxAttempts,
    help: 'Attempts in all, the first included; 1 switches retrying off.',
  }),
  backoff: { ...backoffKey, inherited: retry.backoff },
  maxTotalWaitMs: duration({
    zero: true,
    infinite: true,
    inherited: retry.maxTotalWaitMs,
    help: 'Most time spent waiting between the attempts of a call.',
  }),
  repeatAfter: choice(repeatChoices, {
    inherited: retry.repeatAfter,
    help: 'After what a call is tried again of which nobody said what it may do: when it was refused, also when the connection broke, or also when the answer was lost because a limit passed or the process died.',
  }),
  retryUnknown: boolean({
    inherited: retry.retryUnknown,
    help: 'Whether failures of kind `unknown` are tried again.',
  }),
  overloadedFactor: number({
    min: 1,
    inherited: retry.overloadedFactor,
    help: 'How many times longer the waits are after `overloaded`.',
  }),
} satisfies KeysOf<RetryInput>;

const limitsKeys = {
  idleMs: duration({
    infinite: true,
    inherited: limits.idleMs,
    help: 'Limit without a sign of life, for each attempt.',
  }),
  attemptMs: duration({ infinite: true, inherited: limits.attemptMs, help: 'Limit on each attempt.' }),
  overallMs: duration({
    infinite: true,
    inherited: limits.overallMs,
    help: 'Limit on a call, waits and retries included.',
  }),
} satisfies KeysOf<LimitsInput>;

/** The options of a policy. */
export const policyKeys = {
  extends: text({
    usually: 'the preset of the kind of integration',
    help: 'The preset or the policy under `policies.presets` that this one differs from.',
  }),
  attemptMs: duration({
    infinite: true,
    help: 'Short for `limits.attemptMs`, not beside it; what was inherited gives it room: an overall limit below it is raised to it.',
  }),
  idleMs: duration({ infinite: true, help: 'Short for `limits.idleMs`; not beside it.' }),
  overallMs: duration({ infinite: true, help: 'Short for `limits.overallMs`; not beside it.' }),
  maxAttempts: integer({ help: 'Short for `retry.maxAttempts`; not beside it.' }),
  retry: section(retryKeys, { id: 'retry', help: 'How often and when a call is tried again.' }),
  limits: section(limitsKeys, { id: 'limits', help: 'The three clocks of a call.' }),
  breaker: section(breakerKeys, {
    id: 'breaker',
    help: 'When the circuit opens, for how long, and how it is probed.',
  }),
  maxInFlight: integer({ inherited: defaultPolicy.maxInFlight, help: 'Attempts in flight at once.' }),
  queueLength: integer({
    min: 0,
    inherited: defaultPolicy.queueLength,
    help: 'Calls that may wait for a free place.',
  }),
  abortGraceMs: duration({
    inherited: defaultPolicy.abortGraceMs,
    help: 'How long the work of an ended attempt may go on before it is written off.',
  }),
  maxAbandoned: integer({
    min: 0,
    inherited: defaultPolicy.maxAbandoned,
    help: 'Written-off attempts that are replaced; one more and the integration is `crashed`.',
  }),
  maxPauseMs: duration({
    inherited: defaultPolicy.maxPauseMs,
    help: 'A `retry-after` up to this pauses the integration, a longer one is `quota`.',
  }),
  restartWaitMs: duration({
    inherited: defaultPolicy.restartWaitMs,
    help: 'How long a new call waits for a crashed integration to restart.',
  }),
  repeatWaitMs: duration({
    inherited: defaultPolicy.repeatWaitMs,
    help: 'How long a call that is to be repeated waits for restarts in all.',
  }),
  rate: ratePolicyKey,
} satisfies KeysOf<PolicyInput>;

/** The option of a policy, which is resolved by the caller. */
export const policyKey = test<PolicyInput>('an object', (value) => typeof value === 'object' && value !== null, {
  table: policyKeys,
});

/** A policy that was read; what it does not say comes from what it extends. */
export type ReadPolicy = GivenValues<typeof policyKeys>;
