import { describe, expect, it } from 'vitest';
import { presets } from '../../../src/policy/presets.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import type { PolicyInput } from '../../../src/policy/policyInput.ts';
import type { IntegrationPlan, PlannedCall } from '../../../incident/replay/plan.ts';
import { overriddenPlans } from '../../../incident/replay/policyOverride.ts';

/** The plan of an integration with one call, which has retries and limits of its own. */
function planOf(input: PolicyInput): IntegrationPlan {
  const policy = resolvePolicy('kb', input);
  const retry = { ...policy.retry, maxAttempts: 7 };
  const limits = { idleMs: 100, attemptMs: 200, overallMs: 300 };
  const call: PlannedCall = {
    integration: 'kb',
    number: 1,
    about: { call: 1, arrivedAt: 0 },
    arrivedAt: 0,
    limits,
    ownLimits: limits,
    retry,
    attempts: new Map(),
    end: undefined,
    isPending: false,
    pendingAt: undefined,
    replaces: false,
    cameCancelled: false,
  };
  const none = { calls: [call], probes: [], inputs: [], draws: [] };
  return { name: 'kb', policy, hasOwnRate: false, isShared: false, traits: {}, from: 0, until: 0, ...none };
}

function overridden(overrides: readonly string[], input: PolicyInput = {}): IntegrationPlan {
  const [plan] = overriddenPlans([planOf(input)], overrides);
  if (plan === undefined) throw new Error('no plan');
  return plan;
}

const refusal = (overrides: readonly string[]): string => {
  try {
    overridden(overrides);
  } catch (error) {
    return String(error);
  }
  return 'taken';
};

describe('another policy for a replay', () => {
  it('[O-16] is that of the record where nothing is asked for', () => {
    const plans = [planOf({ maxInFlight: 3 })];
    expect(overriddenPlans(plans, [])).toBe(plans);
    const { policy, calls } = overridden(['queueLength=9'], { maxInFlight: 3 });
    expect(policy).toEqual({ ...resolvePolicy('kb', { maxInFlight: 3 }), queueLength: 9 });
    expect(calls[0]).toMatchObject({ limits: { overallMs: 300 }, retry: { maxAttempts: 7 } });
  });

  it.each([['retry.maxAttempts=1'], ['maxAttempts=1']])(
    '[O-16] takes %s as a configuration does, for the integration and for calls of their own retries',
    (override) => {
      const { policy, calls } = overridden([override], { maxAttempts: 5 });
      expect([policy.retry.maxAttempts, calls[0]?.retry.maxAttempts]).toEqual([1, 1]);
    },
  );

  it('[O-16] takes the limits of a call by their short and by their long names', () => {
    for (const [override, expected] of [
      ['idleMs=50', { idleMs: 50, attemptMs: 200, overallMs: 300 }],
      ['limits.idleMs=50', { idleMs: 50, attemptMs: 200, overallMs: 300 }],
      ['overallMs=5m', { idleMs: 100, attemptMs: 200, overallMs: 300_000 }],
      // The short one gives an attempt room, the long one changes the one limit.
      ['attemptMs=1000', { idleMs: 100, attemptMs: 1000, overallMs: 1000 }],
      ['limits.attemptMs=1000', { idleMs: 100, attemptMs: 1000, overallMs: 300 }],
      ['limits.overallMs=Infinity', { idleMs: 100, attemptMs: 200, overallMs: Number.POSITIVE_INFINITY }],
    ] as const) {
      const [call] = overridden([override]).calls;
      expect([override, call?.limits, call?.ownLimits]).toEqual([override, expected, expected]);
    }
  });

  it('[O-16] changes one figure of a circuit, a backoff or a rate, and leaves the others', () => {
    const backoff = { initialMs: 20, factor: 3, maxMs: 500, jitter: { kind: 'factor', factor: 0.1 } } as const;
    const recorded = { breaker: { consecutiveFailures: 8, minimumAttempts: 30 }, retry: { backoff } };
    const { policy, hasOwnRate } = overridden(
      ['breaker.consecutiveFailures=3', 'retry.backoff.initialMs=100ms', 'retry.backoff.jitter.factor=0.5'],
      recorded,
    );
    expect(policy.breaker).toMatchObject({ consecutiveFailures: 3, minimumAttempts: 30 });
    const jitter = { kind: 'factor', factor: 0.5 };
    expect(policy.retry.backoff).toEqual({ kind: 'exponential', ...backoff, initialMs: 100, jitter });
    expect(hasOwnRate).toBe(false);
    const rated = overridden(['rate.requests=5', 'rate.perMs=1m']);
    expect([rated.policy.rate, rated.hasOwnRate]).toEqual([
      expect.objectContaining({ requests: 5, perMs: 60_000 }),
      true,
    ]);
  });

  it('[O-16] may be a preset', () => {
    const { policy, calls } = overridden(['extends=workflow', 'maxAttempts=2'], { maxInFlight: 3 });
    expect(policy).toEqual({ ...presets.workflow, retry: { ...presets.workflow.retry, maxAttempts: 2 } });
    expect(calls[0]?.limits).toEqual(presets.workflow.limits);
  });

  it('[O-16] [L-1] is refused by its name and value where it is no policy', () => {
    expect(refusal(['nonsense'])).toContain('"nonsense"');
    expect(refusal(['=5'])).toContain('"=5"');
    expect(refusal(['maxAttempts=0'])).toMatch(/^RangeError.*kb\.policy\.maxAttempts.*0/);
    expect(refusal(['retry.maxAttempts=1', 'maxAttempts=2'])).toContain('left out beside `retry.maxAttempts`');
    expect(refusal(['retri.maxAttempts=5'])).toMatch(/retri.*retry/);
    expect(refusal(['retry.maxAttemps=5'])).toMatch(/maxAttemps.*maxAttempts/);
    expect(refusal(['maxAttempts.x=5'])).toMatch(/maxAttempts/);
    expect(refusal(['__proto__.x=5'])).toContain('__proto__');
    expect(refusal(['extends=none'])).toContain('none');
  });
});

describe('policies for an incident that holds no integration', () => {
  it('[O-16] are refused all the same where they are none', () => {
    expect(() => overriddenPlans([], ['nonsense=1'])).toThrow('nonsense');
    expect(overriddenPlans([], ['retry.maxAttempts=5'])).toEqual([]);
  });
});
