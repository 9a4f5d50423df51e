import type { BackoffPolicy } from './backoff.ts';
import { checkBreakerPolicy, defaultBreakerPolicy } from './breaker.ts';
import { nearest } from './nearest.ts';
import { checkDuration, checkInteger, checkKeys, checkName, show } from './options.ts';
import type { IntegrationPolicy, Limits, RetryPolicy } from './policy.ts';
import { type Given, given, limitsIn, retryIn, type RetryInput } from './policyParts.ts';

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
  repeatAfter: 'broken',
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
  repeatWaitMs: seconds(20),
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
      repeatAfter: 'lost',
      retryUnknown: true,
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
      repeatAfter: 'lost',
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
    retry: oneAttempt,
    limits: { idleMs: seconds(10), attemptMs: seconds(10), overallMs: seconds(10) },
  },
});

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
  /** Another name of `extends`. */
  readonly preset?: string | undefined;
  /** Attempts in all, the first included, at least 1: short for `retry.maxAttempts`. */
  readonly maxAttempts?: number | undefined;
  /**
   * Limit on each attempt, in ms above 0 or `Infinity`: short for `limits.attemptMs`, but that it takes effect whatever was inherited: a
   * limit on the whole call that is not given here is raised to it, and so is an idle limit that did not end attempts any earlier. The
   * long form changes the one limit alone.
   */
  readonly timeoutMs?: number | undefined;
  /** Limit on an attempt without a sign of life, in ms above 0 or `Infinity`: short for `limits.idleMs`. */
  readonly idleMs?: number | undefined;
  /** Limit on the whole call, waits and retries included, in ms above 0 or `Infinity`: short for `limits.overallMs`. */
  readonly overallMs?: number | undefined;
  readonly retry?: RetryInput | undefined;
  /** Whichever is over first ends the call or the attempt; when two tie, the inner one names the reason. */
  readonly limits?: Given<Limits> | undefined;
  readonly breaker?: Given<IntegrationPolicy['breaker']> | undefined;
  readonly maxInFlight?: number | undefined;
  readonly queueLength?: number | undefined;
  readonly abortGraceMs?: number | undefined;
  readonly maxAbandoned?: number | undefined;
  readonly maxPauseMs?: number | undefined;
  readonly restartWaitMs?: number | undefined;
  readonly repeatWaitMs?: number | undefined;
}

/** The options of a policy. */
export const policyKeys: readonly string[] = [
  'extends',
  'preset',
  'maxAttempts',
  'timeoutMs',
  'idleMs',
  'overallMs',
  ...Object.keys(defaultPolicy),
];

/**
 * Checks a policy and completes it from its preset; what it returns is frozen throughout.
 * @param name - of the integration, for errors.
 * @param base - what holds where neither input nor preset says otherwise.
 * @param known - the presets it may start from.
 * @throws TypeError or RangeError that names the option and its value, and the nearest known preset.
 */
export function resolvePolicy(
  name: string,
  input: PolicyInput = {},
  base: IntegrationPolicy = defaultPolicy,
  known: Readonly<Record<string, IntegrationPolicy>> = presets,
): IntegrationPolicy {
  return completePolicy(`${name}.policy`, input, base, known);
}

/** {@link resolvePolicy} for a policy whose path in the options is `option`. */
export function completePolicy(
  option: string,
  input: PolicyInput,
  base: IntegrationPolicy,
  known: Readonly<Record<string, IntegrationPolicy>>,
): IntegrationPolicy {
  checkKeys(option, input, policyKeys);
  const named = presetNameIn(option, input);
  const start = named === undefined ? base : presetOf(named, known);
  const count = (key: 'maxInFlight' | 'queueLength' | 'maxAbandoned', min: number): number =>
    checkInteger(`${option}.${key}`, given(input[key], start[key]), min);
  const duration = (key: 'abortGraceMs' | 'maxPauseMs' | 'restartWaitMs' | 'repeatWaitMs'): number =>
    checkDuration(`${option}.${key}`, given(input[key], start[key]));
  return Object.freeze({
    retry: retryIn(option, input, start.retry),
    limits: limitsIn(option, input, start.limits),
    breaker: checkBreakerPolicy(`${option}.breaker`, given(input.breaker, {}), start.breaker),
    maxInFlight: count('maxInFlight', 1),
    queueLength: count('queueLength', 0),
    abortGraceMs: duration('abortGraceMs'),
    maxAbandoned: count('maxAbandoned', 0),
    maxPauseMs: duration('maxPauseMs'),
    restartWaitMs: duration('restartWaitMs'),
    repeatWaitMs: duration('repeatWaitMs'),
  });
}

/** The preset that a policy names, and where. @throws TypeError or RangeError when it is no name, or named twice. */
export function presetNameIn(option: string, input: PolicyInput): NamedPreset | undefined {
  const { extends: base, preset } = input;
  if (base !== undefined && preset !== undefined) {
    throw new RangeError(
      `Expected one of \`${option}.extends\` and \`${option}.preset\`, which are the same, got both`,
    );
  }
  const key = base === undefined ? 'preset' : 'extends';
  const name = base === undefined ? preset : base;
  return name === undefined ? undefined : { option: `${option}.${key}`, name: checkName(`${option}.${key}`, name) };
}

interface NamedPreset {
  readonly option: string;
  readonly name: string;
}

function presetOf(named: NamedPreset, known: Readonly<Record<string, IntegrationPolicy>>): IntegrationPolicy {
  const found = Object.hasOwn(known, named.name) ? known[named.name] : undefined;
  if (found === undefined) throw unknownPreset(named, Object.keys(known));
  return found;
}

/** Says which preset may have been meant. */
export function unknownPreset({ option, name }: NamedPreset, known: readonly string[]): RangeError {
  const close = nearest(name, known);
  const hint = close === undefined ? `known: ${known.join(', ')}` : `did you mean ${close}?`;
  return new RangeError(`Unknown preset in \`${option}\`: ${show(name)}; ${hint}`);
}

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner);
  return Object.freeze(value);
}
