import type { OpeningRule } from './breakerRule.ts';
import { type BreakerOutcome, type FailureFacts, type FailureKind, failureKinds } from './failures/failure.ts';
import { clampHint } from './failures/hints.ts';
import { duration, type GivenValues, integer, type Given, type Made, number, type Tell } from './options/optionKeys.ts';

/** Counts of a breaker since it last closed. */
export interface Tally {
  readonly consecutive: number;
  /** Failed attempts in the window. */
  readonly failures: number;
  /** Attempts in the window. */
  readonly total: number;
}

/** The rule by which a closed circuit opens; undefined while it stays closed. @param kind - of the failure that was counted last. */
export function openingRule(kind: FailureKind, tally: Tally, policy: BreakerPolicy): OpeningRule | undefined {
  if (kind === 'quota') return { name: 'quota' };
  const { consecutive, failures, total } = tally;
  const { consecutiveFailures, minimumAttempts, failureRatio } = policy;
  if (consecutive >= consecutiveFailures)
    return { name: 'consecutive_failures', failures: consecutive, limit: consecutiveFailures };
  return total >= minimumAttempts && failures / total >= failureRatio
    ? { name: 'failure_ratio', failures, attempts: total, limit: failureRatio }
    : undefined;
}

/**
 * Returns how long an opening lasts, in ms: the latest of the reset timeout, its growth, and an upstream hint.
 * @param openings - earlier openings in a row, 0 for the first.
 */
export function openForMs(policy: BreakerPolicy, openings: number, hintMs?: number): number {
  const { resetTimeoutMs, openFactor, maxOpenMs } = policy;
  const grownMs = Math.min(resetTimeoutMs * openFactor ** openings, Math.max(maxOpenMs, resetTimeoutMs));
  return Math.max(resetTimeoutMs, grownMs, believable(hintMs));
}

/** A hint comes from outside: one that is no number says nothing. */
function believable(hintMs: number | undefined): number {
  return hintMs !== undefined && hintMs > 0 ? clampHint(hintMs) : 0;
}

/** Tells what a failed attempt means to the circuit, by table 1. A command line that is too long says nothing about the other side. */
export function breakerOutcome(facts: FailureFacts): BreakerOutcome {
  if (facts.breaker !== undefined) return facts.breaker;
  return facts.kind === 'spawn' && facts.code === 'E2BIG' ? 'ignored' : failureKinds[facts.kind].breaker;
}

const usual = {
  consecutiveFailures: 5,
  failureRatio: 0.5,
  windowSize: 50,
  windowMs: 60_000,
  minimumAttempts: 20,
  resetTimeoutMs: 60_000,
  openFactor: 1,
  maxOpenMs: 600_000,
  probes: 1,
  probeLeaseGraceMs: 5_000,
};

/** The options of a breaker. */
export const breakerKeys = {
  /** Failed attempts in a row that open the circuit, at least 1. @defaultValue 5 */
  consecutiveFailures: integer({
    inherited: usual.consecutiveFailures,
    help: 'Failed attempts in a row that open the circuit.',
  }),
  /** Share of failed attempts in the window that opens the circuit, 0.001 to 1. @defaultValue 0.5 */
  failureRatio: number({
    min: 0.001,
    max: 1,
    inherited: usual.failureRatio,
    help: 'Share of failed attempts in the window that opens the circuit.',
  }),
  /** Attempts the window holds, 1 to 100000. @defaultValue 50 */
  windowSize: integer({ max: 100_000, inherited: usual.windowSize, help: 'Attempts the window holds.' }),
  /** Age at which attempts leave the window, in ms. @defaultValue 60000 */
  windowMs: duration({ inherited: usual.windowMs, help: 'Age at which attempts leave the window.' }),
  /** Attempts the window needs before its ratio counts, 1 to `windowSize`. @defaultValue 20 */
  minimumAttempts: integer({
    max: 100_000,
    inherited: usual.minimumAttempts,
    help: 'Attempts the window needs before its ratio counts; at most `windowSize`.',
  }),
  /** Time that the circuit stays open at first, in ms. @defaultValue 60000 */
  resetTimeoutMs: duration({ inherited: usual.resetTimeoutMs, help: 'How long the circuit stays open at first.' }),
  /** By how much each further opening is longer, at least 1; 1 switches it off. @defaultValue 1 */
  openFactor: number({
    min: 1,
    inherited: usual.openFactor,
    help: 'By how much each further opening is longer; 1 switches that off.',
  }),
  /** Longest time of a growing opening, in ms; below the reset timeout it has no effect. @defaultValue 600000 */
  maxOpenMs: duration({ inherited: usual.maxOpenMs, help: 'Longest time of a growing opening.' }),
  /** Probes in flight at once, at least 1. @defaultValue 1 */
  probes: integer({ inherited: usual.probes, help: 'Probes in flight at once.' }),
  /** Time that a probe may hold its place beyond its attempt limit, in ms. @defaultValue 5000 */
  probeLeaseGraceMs: duration({
    inherited: usual.probeLeaseGraceMs,
    help: 'How much longer than its attempt limit a probe may hold its place.',
  }),
};

/** Rules by which a circuit opens, for how long, and how it is probed. */
export interface BreakerPolicy extends Made<typeof breakerKeys> {}

/** 5 failures in a row, or half of the last 50 attempts of a minute, open the circuit for 60 s. */
export const defaultBreakerPolicy: BreakerPolicy = Object.freeze(usual);

/** Rules by which a circuit opens, for how long, and how it is probed, as they may be given. */
export interface BreakerInput extends Given<typeof breakerKeys> {}

/**
 * Completes a breaker policy from `base`; what it returns is frozen.
 * @param tell - told of a window that can never hold as many attempts as it needs: its ratio would be switched off without a word.
 */
export function completeBreaker(read: GivenValues<typeof breakerKeys>, base: BreakerPolicy, tell: Tell): BreakerPolicy {
  const policy = Object.freeze({ ...base, ...read } as BreakerPolicy);
  const { windowSize, minimumAttempts } = policy;
  if (minimumAttempts > windowSize) {
    const isDefault = read.minimumAttempts === undefined;
    tell('minimumAttempts', {
      expected: `an integer from 1 to ${windowSize} (windowSize)`,
      value: minimumAttempts,
      isDefault,
    });
  }
  return policy;
}
