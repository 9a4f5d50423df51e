import type { Growth, Jitter } from '../../src/policy/backoff.ts';
import type { Effect } from '../../src/policy/effects.ts';
import type { Limits } from '../../src/policy/policy.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import type { WatchdogOptions } from '../../src/sessions/sessionOptions.ts';
import type { Chance } from './chance.ts';

const never = Number.POSITIVE_INFINITY;

/** A policy with small figures, so that every limit is met within a run. */
export function randomPolicy(chance: Chance): PolicyInput {
  const windowSize = chance.integer(4, 50);
  return {
    retry: {
      maxAttempts: chance.integer(1, 5),
      backoff: { ...randomGrowth(chance), jitter: randomJitter(chance) },
      repeatAfter: chance.pick(['refused', 'broken', 'lost', 'lost']),
      retryUnknown: chance.happens(0.3),
      maxTotalWaitMs: chance.happens(0.2) ? chance.span(1, 5000) : never,
      overloadedFactor: chance.integer(1, 3),
    },
    limits: randomLimits(chance),
    breaker: {
      consecutiveFailures: chance.integer(1, 6),
      failureRatio: chance.integer(3, 10) / 10,
      windowSize,
      windowMs: chance.span(500, 60_000),
      minimumAttempts: chance.integer(2, Math.min(20, windowSize)),
      resetTimeoutMs: chance.span(50, 60_000),
      openFactor: chance.integer(1, 2),
      maxOpenMs: chance.span(1000, 600_000),
      probes: chance.integer(1, 3),
      probeLeaseGraceMs: chance.span(1, 5000),
    },
    maxInFlight: chance.happens(0.8) ? chance.integer(1, 4) : 100,
    queueLength: chance.integer(0, 3),
    abortGraceMs: chance.span(1, 5000),
    maxAbandoned: chance.happens(0.7) ? chance.integer(0, 3) : 100,
    maxPauseMs: chance.span(10, 60_000),
    restartWaitMs: chance.span(10, 5000),
    repeatWaitMs: chance.span(10, 20_000),
  };
}

/** Limits of which the overall one is always finite: it is what I-1 is measured by. */
export function randomLimits(chance: Chance): Limits {
  const idleMs = chance.happens(0.15) ? never : chance.span(5, 20_000);
  const attemptMs = chance.happens(0.15) ? never : chance.span(10, 60_000);
  const overallMs = chance.span(20, 300_000);
  return { idleMs, attemptMs: attemptMs === never ? never : Math.min(attemptMs, overallMs), overallMs };
}

export function randomEffect(chance: Chance): Effect | undefined {
  return chance.pick(['readOnly', 'idempotent', 'mutating', undefined]);
}

export type Watchdog = Required<{ [K in keyof WatchdogOptions]: number }>;

export function randomWatchdog(chance: Chance): Watchdog {
  const releaseMs = chance.span(5, 5000);
  return {
    toolCallMs: chance.span(20, 300_000),
    turnMs: chance.span(20, 600_000),
    releaseMs,
    recoveryMs: releaseMs + chance.span(1, 30_000),
  };
}

function randomGrowth(chance: Chance): Growth {
  return chance.pick<() => Growth>([
    () => ({ kind: 'exponential', initialMs: chance.span(1, 2000), factor: chance.integer(1, 3), maxMs: 8000 }),
    () => ({ kind: 'list', delaysMs: [chance.integer(0, 100), chance.integer(0, 2000)] }),
    () => ({ kind: 'constant', delayMs: chance.integer(0, 1000) }),
  ])();
}

function randomJitter(chance: Chance): Jitter {
  return chance.pick<Jitter>([{ kind: 'none' }, { kind: 'full' }, { kind: 'factor', factor: 0.2 }]);
}
