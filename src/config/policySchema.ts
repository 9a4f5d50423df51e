import { z } from 'zod';
import { effects, repeatChoices } from '../policy/effects.ts';
import { whenAliveChoices } from '../policy/policies.ts';
import { defaultPolicy } from '../policy/presets.ts';
import {
  boolean,
  byName,
  duration,
  integer,
  keyMeta,
  number,
  oneOf,
  plainDuration,
  section,
  text,
} from './keyTypes.ts';

const { retry, limits, breaker } = defaultPolicy;

const delay = plainDuration({ zero: true });

const growthFactor = z.number().min(1).register(keyMeta, { expected: 'a number of at least 1' });

const growth = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('exponential'),
    baseMs: plainDuration(),
    factor: growthFactor.optional(),
    capMs: plainDuration(),
  }),
  z.strictObject({
    kind: z.literal('list'),
    delaysMs: z.array(delay).min(1).register(keyMeta, { expected: 'a list of at least one delay' }),
    capMs: plainDuration().optional(),
  }),
  z.strictObject({ kind: z.literal('constant'), delayMs: delay }),
]);

const jitter = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('none') }),
  z.strictObject({
    kind: z.literal('factor'),
    factor: z.number().min(0).max(1).register(keyMeta, { expected: 'a number from 0 to 1' }),
  }),
  z.strictObject({ kind: z.literal('full') }),
]);

const spread = jitter.register(keyMeta, { expected: 'an object whose kind is none, factor or full' }).optional();

const shortBackoff = z.strictObject({
  initialMs: plainDuration(),
  maxMs: plainDuration(),
  factor: growthFactor.optional(),
  jitter: spread,
});

const longBackoff = z.strictObject({
  backoff: growth.register(keyMeta, { expected: 'an object whose kind is exponential, list or constant' }),
  jitter: spread,
});

const backoff = z.union([shortBackoff, longBackoff]).register(keyMeta, {
  description:
    'The waits between attempts: `{initialMs, maxMs}`, each `factor` (2) times longer than the one before; or `backoff` says how they grow (`{kind: "exponential", baseMs, factor, capMs}`, `{kind: "list", delaysMs, capMs}` or `{kind: "constant", delayMs}`). `jitter` says how they are spread (`{kind: "none"}`, `{kind: "factor", factor}` or `{kind: "full"}`): without it, fully where they grow, else not.',
  expected: 'an object with initialMs and maxMs, or with backoff',
  default: retry.backoff,
  whole: true,
});

const retryShape = {
  maxAttempts: integer('Attempts in all, the first included; 1 switches retrying off.', { default: retry.maxAttempts }),
  backoff: backoff.optional(),
  maxTotalWaitMs: duration(
    'Most time spent waiting between the attempts of a call.',
    { default: 'infinity' },
    { zero: true, infinite: true },
  ),
  repeatAfter: oneOf(
    repeatChoices,
    'After what a call is tried again of which nobody said what it may do: when it was refused, also when the connection broke, or also when the answer was lost because a limit passed or the process died.',
    { default: retry.repeatAfter },
  ),
  retryUnknown: boolean('Whether failures of kind `unknown` are tried again.', { default: retry.retryUnknown }),
  overloadedFactor: number(
    'How many times longer the waits are after `overloaded`.',
    { default: retry.overloadedFactor },
    { min: 1 },
  ),
};

const limitsShape = {
  idleMs: duration('Limit without a sign of life, for each attempt.', { default: limits.idleMs }, { infinite: true }),
  attemptMs: duration('Limit on each attempt.', { default: limits.attemptMs }, { infinite: true }),
  overallMs: duration(
    'Limit on a call, waits and retries included.',
    { default: limits.overallMs },
    { infinite: true },
  ),
};

const breakerShape = {
  consecutiveFailures: integer('Failed attempts in a row that open the circuit.', {
    default: breaker.consecutiveFailures,
  }),
  failureRatio: number(
    'Share of failed attempts in the window that opens the circuit.',
    { default: breaker.failureRatio },
    { min: 0.001, max: 1 },
  ),
  windowSize: integer('Attempts the window holds.', { default: breaker.windowSize }, { max: 100_000 }),
  windowMs: duration('Age at which attempts leave the window.', { default: breaker.windowMs }),
  minimumAttempts: integer(
    'Attempts the window needs before its ratio counts; at most `windowSize`.',
    { default: breaker.minimumAttempts },
    { max: 100_000 },
  ),
  resetTimeoutMs: duration('How long the circuit stays open at first.', { default: breaker.resetTimeoutMs }),
  openFactor: number(
    'By how much each further opening is longer; 1 switches that off.',
    { default: breaker.openFactor },
    { min: 1 },
  ),
  maxOpenMs: duration('Longest time of a growing opening.', { default: breaker.maxOpenMs }),
  probes: integer('Probes in flight at once.', { default: breaker.probes }),
  probeLeaseGraceMs: duration('How much longer than its attempt limit a probe may hold its place.', {
    default: breaker.probeLeaseGraceMs,
  }),
};

const policyShape = {
  extends: text('The preset or the policy under `policies.presets` that this one differs from.', {
    usually: 'the preset of the kind of integration',
  }),
  preset: text('The same as `extends`; not beside it.'),
  timeoutMs: duration(
    'Short for `limits.attemptMs`, not beside it; what was inherited gives it room: an overall limit below it is raised to it.',
    {},
    { infinite: true },
  ),
  idleMs: duration('Short for `limits.idleMs`; not beside it.', {}, { infinite: true }),
  overallMs: duration('Short for `limits.overallMs`; not beside it.', {}, { infinite: true }),
  maxAttempts: integer('Short for `retry.maxAttempts`; not beside it.'),
  retry: section('How often and when a call is tried again.', retryShape, 'retry').optional(),
  limits: section('The three clocks of a call.', limitsShape, 'limits').optional(),
  breaker: section('When the circuit opens, for how long, and how it is probed.', breakerShape, 'breaker').optional(),
  maxInFlight: integer('Attempts in flight at once.', { default: defaultPolicy.maxInFlight }),
  queueLength: integer('Calls that may wait for a free place.', { default: defaultPolicy.queueLength }, { min: 0 }),
  abortGraceMs: duration('How long the work of an ended attempt may go on before it is written off.', {
    default: defaultPolicy.abortGraceMs,
  }),
  maxAbandoned: integer(
    'Written-off attempts that are replaced; one more and the integration is `crashed`.',
    { default: defaultPolicy.maxAbandoned },
    { min: 0 },
  ),
  maxPauseMs: duration('A `retry-after` up to this pauses the integration, a longer one is `quota`.', {
    default: defaultPolicy.maxPauseMs,
  }),
  restartWaitMs: duration('How long a new call waits for a crashed integration to restart.', {
    default: defaultPolicy.restartWaitMs,
  }),
  repeatWaitMs: duration('How long a call that is to be repeated waits for restarts in all.', {
    default: defaultPolicy.repeatWaitMs,
  }),
};

const effect = (description: string, usually: string) =>
  oneOf(effects as readonly ['readOnly', 'idempotent', 'mutating'], description, { usually });

const toolSchema = section(
  'What a tool says about itself.',
  {
    effect: effect('What its calls may do to the world.', 'that of the integration'),
    idleMs: duration('Limit without a sign of life, for each attempt.', { usually: 'that of the integration' }),
    attemptMs: duration('Limit on each attempt.', { usually: 'that of the integration' }),
    longRunningMs: duration(
      'Declares the tool long-running: its own limit on a call and each attempt, in place of all others and of the watchdog.',
    ),
  },
  'tool',
);

/** Policies by name, and what holds for single integrations. */
export const policiesSchema = section('Policies by name, and what holds for single integrations.', {
  presets: byName(
    section('A policy: what is to differ from another.', policyShape, 'policy'),
    'Policies by name, to be extended by others; the name of a built-in one changes it for all that use it.',
  ),
  integrations: byName(
    section(
      'What holds for an integration, whatever the code declares for it.',
      {
        ...policyShape,
        effect: effect('What its calls may do to the world.', 'what the code says'),
        tools: byName(toolSchema, 'Its tools by name.'),
        whenAlive: oneOf(
          whenAliveChoices,
          'Of an MCP server: whether a call that is silent for its idle limit ends, or goes on to its attempt limit, while the server answers a ping.',
          { usually: 'what the code says; `wait` for `unwedge mcp`' },
        ),
      },
      'integration',
    ),
    'By the name of the integration; wins over what the code declares for it.',
  ),
}).optional();
