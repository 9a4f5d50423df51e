import { type BackoffPolicy, checkBackoff } from './backoff.ts';
import { checkBreakerPolicy, defaultBreakerPolicy } from './breaker.ts';
import { nearest } from './nearest.ts';
import { checkBoolean, checkDuration, checkInteger, checkKeys, checkName, checkNumber, show } from './options.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from './policy.ts';

/** A policy with a name, for a kind of integration. */
export type PresetName = 'mcp' | 'sdk' | 'subprocess' | 'toolCall' | 'workflow' | 'claudeCli' | 'codex' | 'hook';

const seconds = (count: number): number => count * 1000;
const minutes = (count: number): number => count * 60_000;

const exponential = (baseMs: number, capMs: number): BackoffPolicy => ({
  backoff: { kind: 'exponential', baseMs, factor: 2, capMs },
  jitter: { kind: 'factor', factor: 0.2 },
});

const fourAttempts: RetryPolicy = {
  maxAttempts: 4,
  backoff: exponential(1000, 8000),
  maxTotalWaitMs: Number.POSITIVE_INFINITY,
  retryUnspecified: true,
  retryUnknown: false,
  overloadedFactor: 2,
};

const oneAttempt: RetryPolicy = { ...fourAttempts, maxAttempts: 1 };

/** four attempts in all, after waits of 1, 2 and 4 s. */
export const defaultPolicy: IntegrationPolicy = frozen({
  retry: fourAttempts,
  limits: { idleMs: seconds(120), attemptMs: minutes(10), overallMs: minutes(30) },
  breaker: defaultBreakerPolicy,
  maxInFlight: 100,
  queueLength: 0,
  abortGraceMs: seconds(5),
  maxAbandoned: 100,
  maxPauseMs: seconds(60),
  restartWaitMs: seconds(5),
});

/** The presets of docs/requirements.md, section 3. Every limit is finite; where the table has none, that of `sdk` holds. */
export const presets: Readonly<Record<PresetName, IntegrationPolicy>> = frozen({
  mcp: { ...defaultPolicy, limits: { idleMs: seconds(30), attemptMs: minutes(5), overallMs: minutes(6) } },
  sdk: defaultPolicy,
  subprocess: { ...defaultPolicy, limits: { ...defaultPolicy.limits, idleMs: seconds(180) } },
  toolCall: {
    ...defaultPolicy,
    retry: {
      ...fourAttempts,
      maxAttempts: 3,
      backoff: { backoff: { kind: 'list', delaysMs: [100, 500, 2000] }, jitter: { kind: 'none' } },
    },
    limits: { ...defaultPolicy.limits, overallMs: minutes(5) },
  },
  workflow: {
    ...defaultPolicy,
    retry: {
      ...fourAttempts,
      maxAttempts: 3,
      backoff: { backoff: { kind: 'exponential', baseMs: 1000, factor: 2, capMs: 8000 }, jitter: { kind: 'none' } },
    },
    // A backend has its five minutes whether it reports or not.
    limits: { idleMs: minutes(5), attemptMs: minutes(5), overallMs: minutes(30) },
    breaker: { ...defaultBreakerPolicy, consecutiveFailures: 3 },
  },
  claudeCli: {
    ...defaultPolicy,
    retry: {
      ...fourAttempts,
      maxAttempts: 5,
      backoff: exponential(2000, 120_000),
      maxTotalWaitMs: seconds(300),
      retryUnknown: true,
    },
    limits: { idleMs: seconds(180), attemptMs: seconds(300), overallMs: minutes(30) },
  },
  codex: {
    ...defaultPolicy,
    retry: oneAttempt,
    limits: { idleMs: seconds(300), attemptMs: minutes(30), overallMs: minutes(30) },
  },
  hook: {
    ...defaultPolicy,
    retry: { ...oneAttempt, retryUnspecified: false },
    limits: { idleMs: seconds(10), attemptMs: seconds(10), overallMs: seconds(10) },
  },
});

type Given<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** A policy as users write it: a preset, and what is to differ from it. */
export interface PolicyInput {
  /** @defaultValue the defaults of R-1 */
  readonly preset?: PresetName | undefined;
  readonly retry?: Given<RetryPolicy> | undefined;
  readonly limits?: Given<Limits> | undefined;
  readonly breaker?: Given<IntegrationPolicy['breaker']> | undefined;
  readonly maxInFlight?: number | undefined;
  readonly queueLength?: number | undefined;
  readonly abortGraceMs?: number | undefined;
  readonly maxAbandoned?: number | undefined;
  readonly maxPauseMs?: number | undefined;
  readonly restartWaitMs?: number | undefined;
}

const keys = ['preset', ...Object.keys(defaultPolicy)];

/**
 * Checks a policy and completes it from its preset; what it returns is frozen throughout.
 * @param name - of the integration, for errors.
 * @param base - what holds where neither input nor preset says otherwise.
 * @throws TypeError or RangeError that names the option and its value, and the nearest known preset.
 */
export function resolvePolicy(
  name: string,
  input: PolicyInput = {},
  base: IntegrationPolicy = defaultPolicy,
): IntegrationPolicy {
  checkKeys(`${name}.policy`, input, keys);
  const start = input.preset === undefined ? base : preset(`${name}.policy.preset`, input.preset);
  const count = (key: 'maxInFlight' | 'queueLength' | 'maxAbandoned', min: number): number =>
    checkInteger(`${name}.policy.${key}`, given(input[key], start[key]), min);
  const duration = (key: 'abortGraceMs' | 'maxPauseMs' | 'restartWaitMs'): number =>
    checkDuration(`${name}.policy.${key}`, given(input[key], start[key]));
  return Object.freeze({
    retry: checkRetry(`${name}.policy.retry`, given(input.retry, {}), start.retry),
    limits: checkLimits(`${name}.policy.limits`, given(input.limits, {}), start.limits),
    breaker: checkBreakerPolicy(`${name}.policy.breaker`, given(input.breaker, {}), start.breaker),
    maxInFlight: count('maxInFlight', 1),
    queueLength: count('queueLength', 0),
    abortGraceMs: duration('abortGraceMs'),
    maxAbandoned: count('maxAbandoned', 0),
    maxPauseMs: duration('maxPauseMs'),
    restartWaitMs: duration('restartWaitMs'),
  });
}

function preset(option: string, name: string): IntegrationPolicy {
  const word = checkName(option, name);
  if (Object.hasOwn(presets, word)) return presets[word as PresetName];
  const known = Object.keys(presets);
  const close = nearest(word, known);
  const hint = close === undefined ? `known: ${known.join(', ')}` : `did you mean ${close}?`;
  throw new RangeError(`Unknown preset in \`${option}\`: ${show(name)}; ${hint}`);
}

function checkRetry(name: string, input: Given<RetryPolicy>, base: RetryPolicy): RetryPolicy {
  checkKeys(name, input, Object.keys(base));
  const maxTotalWaitMs = given(input.maxTotalWaitMs, base.maxTotalWaitMs);
  return Object.freeze({
    maxAttempts: checkInteger(`${name}.maxAttempts`, given(input.maxAttempts, base.maxAttempts)),
    backoff: checkBackoff(`${name}.backoff`, given(input.backoff, base.backoff)),
    maxTotalWaitMs: unlessInfinite(maxTotalWaitMs, () => checkNumber(`${name}.maxTotalWaitMs`, maxTotalWaitMs)),
    retryUnspecified: checkBoolean(`${name}.retryUnspecified`, given(input.retryUnspecified, base.retryUnspecified)),
    retryUnknown: checkBoolean(`${name}.retryUnknown`, given(input.retryUnknown, base.retryUnknown)),
    overloadedFactor: checkNumber(`${name}.overloadedFactor`, given(input.overloadedFactor, base.overloadedFactor), 1),
  });
}

function checkLimits(name: string, input: Given<Limits>, base: Limits): Limits {
  checkKeys(name, input, Object.keys(base));
  const limit = (key: keyof Limits): number => {
    const value = given(input[key], base[key]);
    return unlessInfinite(value, () => checkDuration(`${name}.${key}`, value));
  };
  return Object.freeze({ idleMs: limit('idleMs'), attemptMs: limit('attemptMs'), overallMs: limit('overallMs') });
}

function unlessInfinite(value: number, check: () => number): number {
  return value === Number.POSITIVE_INFINITY ? value : check();
}

/** Only `undefined` stands for what is not given: `null` is a mistake that a check is to name. */
function given<T>(value: T | undefined, otherwise: T): T {
  return value === undefined ? otherwise : value;
}

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner);
  return Object.freeze(value);
}
