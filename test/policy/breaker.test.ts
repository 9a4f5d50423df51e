import { describe, expect, it } from 'vitest';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { resolvePolicy } from '../../src/policy/presetChain.ts';
import { breakerOutcome, defaultBreakerPolicy, openForMs, openingRule, type Tally } from '../../src/policy/breaker.ts';
import type { FailureFacts } from '../../src/policy/failures/failure.ts';

const tally = (counted: Partial<Tally>): Tally => ({ consecutive: 0, failures: 0, total: 0, ...counted });
const facts = (given: Partial<FailureFacts>): FailureFacts => ({
  kind: 'unknown',
  message: 'no',
  outcome: 'unknown',
  ...given,
});

describe('the rule that opens a closed circuit', () => {
  const rule = (counted: Partial<Tally>, policy = defaultBreakerPolicy) =>
    openingRule('transient', tally(counted), policy);

  it('[M-4] is the fifth failure in a row, not the fourth', () => {
    expect(rule({ consecutive: 4 })).toBeUndefined();
    expect(rule({ consecutive: 5 })).toEqual({ name: 'consecutive_failures', failures: 5, limit: 5 });
  });

  it('[M-4] is half of at least 20 attempts', () => {
    const ratio = { name: 'failure_ratio', failures: 10, attempts: 20, limit: 0.5 };
    expect(rule({ failures: 10, total: 20 })).toEqual(ratio);
    expect(rule({ failures: 9, total: 20 })).toBeUndefined();
  });

  it('[M-4] is no ratio of fewer than 20 attempts', () => {
    expect(rule({ failures: 19, total: 19 })).toBeUndefined();
  });

  it('[M-4] is nothing while nothing was counted', () => {
    expect(rule({}, { ...defaultBreakerPolicy, minimumAttempts: 1 })).toBeUndefined();
  });

  it('[M-4] is the failures in a row where both hold', () => {
    expect(rule({ consecutive: 5, failures: 20, total: 20 })).toMatchObject({ name: 'consecutive_failures' });
  });

  it('[M-4] is a quota at once, whatever was counted', () => {
    expect(openingRule('quota', tally({ consecutive: 1 }), defaultBreakerPolicy)).toEqual({ name: 'quota' });
  });
});

describe('the time the breaker stays open', () => {
  const doubling = { ...defaultBreakerPolicy, openFactor: 2, maxOpenMs: 200_000 };

  it('[M-2] is 60 s each time by default', () => {
    expect([0, 1, 2000].map((openings) => openForMs(defaultBreakerPolicy, openings))).toEqual([60_000, 60_000, 60_000]);
  });

  it('[M-4] doubles up to its cap where configured', () => {
    expect([0, 1, 2, 2000].map((openings) => openForMs(doubling, openings))).toEqual([
      60_000, 120_000, 200_000, 200_000,
    ]);
  });

  it('[M-4] is never shorter than the reset timeout', () => {
    expect(openForMs({ ...doubling, maxOpenMs: 1 }, 3)).toBe(60_000);
  });

  it('[M-2] is as long as an upstream hint that is longer', () => {
    expect(openForMs(defaultBreakerPolicy, 0, 60_001)).toBe(60_001);
    expect(openForMs(defaultBreakerPolicy, 0, 59_999)).toBe(60_000);
  });

  it('[M-2] believes a hint for 7 days at most', () => {
    expect(openForMs(defaultBreakerPolicy, 0, Number.POSITIVE_INFINITY)).toBe(7 * 24 * 3_600_000);
  });

  it('[M-2] ignores a hint that is no time', () => {
    expect(openForMs(defaultBreakerPolicy, 0, Number.NaN)).toBe(60_000);
    expect(openForMs(defaultBreakerPolicy, 0, -5)).toBe(60_000);
  });
});

describe('what a failure means to the breaker', () => {
  it('[M-4] is what table 1 says of its kind', () => {
    expect(breakerOutcome(facts({ kind: 'transient' }))).toBe('failure');
    expect(breakerOutcome(facts({ kind: 'permanent' }))).toBe('alive');
    expect(breakerOutcome(facts({ kind: 'rate_limit' }))).toBe('ignored');
  });

  it('[M-4] is nothing when only the command line was too long', () => {
    expect(breakerOutcome(facts({ kind: 'spawn', code: 'E2BIG' }))).toBe('ignored');
    expect(breakerOutcome(facts({ kind: 'spawn', code: 'ENOENT' }))).toBe('failure');
  });
});

const checkBreakerPolicy = (_: string, given: unknown) =>
  resolvePolicy('kb', { breaker: given as NonNullable<PolicyInput['breaker']> }).breaker;

describe('checking a breaker policy', () => {
  it('[M-4] completes what is given from the defaults', () => {
    expect(checkBreakerPolicy('breaker', { probes: 2, windowMs: undefined })).toEqual({
      ...defaultBreakerPolicy,
      probes: 2,
    });
  });

  it.each([
    [{ consecutiveFailures: 0 }, '`kb.policy.breaker.consecutiveFailures` to be a positive integer, got 0'],
    [{ probes: 0 }, '`kb.policy.breaker.probes`'],
    [{ failureRatio: 0 }, '`kb.policy.breaker.failureRatio`'],
    [{ failureRatio: 1.1 }, '`kb.policy.breaker.failureRatio`'],
    [{ openFactor: 0.5 }, '`kb.policy.breaker.openFactor`'],
    [{ resetTimeoutMs: Number.POSITIVE_INFINITY }, '`kb.policy.breaker.resetTimeoutMs`'],
    [{ windowSize: 1e12 }, '`kb.policy.breaker.windowSize`'],
    [{ minimumAttempts: 51 }, '`kb.policy.breaker.minimumAttempts` to be an integer from 1 to 50 (windowSize), got 51'],
    [{ resetTimeoutMS: 5 }, 'did you mean resetTimeoutMs?'],
  ])('[M-4] refuses %j by name', (value, message) => {
    expect(() => checkBreakerPolicy('breaker', value)).toThrow(message);
    expect(() => checkBreakerPolicy('breaker', value)).toThrow(RangeError);
  });

  it('[M-4] refuses null, which stands for nothing', () => {
    expect(() => checkBreakerPolicy('breaker', { probes: null })).toThrow(TypeError);
  });
});
