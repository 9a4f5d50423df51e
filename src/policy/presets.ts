import { exponential } from './backoff.ts';
import { defaultBreakerPolicy } from './breaker.ts';
import type { IntegrationPolicy, RetryPolicy } from './policy.ts';
import { usualPolicy } from './policyInput.ts';

/** A policy with a name, for a kind of integration. */
export type PresetName =
  | 'mcp'
  | 'sdk'
  | 'subprocess'
  | 'toolCall'
  | 'workflow'
  | 'claudeCli'
  | 'codex'
  | 'acp'
  | 'hook';

const seconds = (count: number): number => count * 1000;
const minutes = (count: number): number => count * 60_000;

const { retry: fourAttempts } = usualPolicy;
const oneAttempt: RetryPolicy = { ...fourAttempts, maxAttempts: 1 };

/** Policy that holds where nothing is said. */
export const defaultPolicy: IntegrationPolicy = frozen({ ...usualPolicy, breaker: defaultBreakerPolicy });

/**
 * The presets of docs/requirements.md, section 3, and `hook`, whose limit is that of H-1. Every limit is finite; where the table of the requirements has
 * none, that of `sdk` holds, but for the idle limit of `workflow`.
 */
export const presets: Readonly<Record<PresetName, IntegrationPolicy>> = frozen({
  mcp: { ...defaultPolicy, limits: { idleMs: seconds(30), attemptMs: minutes(5), overallMs: minutes(6) } },
  sdk: defaultPolicy,
  subprocess: { ...defaultPolicy, limits: { ...defaultPolicy.limits, idleMs: seconds(180) } },
  toolCall: {
    ...defaultPolicy,
    retry: {
      ...fourAttempts,
      maxAttempts: 3,
      backoff: { kind: 'list', delaysMs: [100, 500, 2000], jitter: { kind: 'none' } },
    },
    limits: { ...defaultPolicy.limits, overallMs: minutes(5) },
  },
  workflow: {
    ...defaultPolicy,
    retry: {
      ...fourAttempts,
      maxAttempts: 3,
      backoff: { ...exponential(1000, 8000), jitter: { kind: 'none' } },
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
  // Progress is what counts: work that gets on for hours is no failure.
  acp: {
    ...defaultPolicy,
    // A prompt that its agent had not begun with when it died is sent once more.
    retry: { ...fourAttempts, maxAttempts: 2 },
    limits: { idleMs: minutes(15), attemptMs: minutes(24 * 60), overallMs: minutes(24 * 60) },
  },
  hook: {
    ...defaultPolicy,
    retry: oneAttempt,
    limits: { idleMs: seconds(10), attemptMs: seconds(10), overallMs: seconds(10) },
  },
});

function frozen<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) frozen(inner);
  return Object.freeze(value);
}
