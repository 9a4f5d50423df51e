import type { FailureKind, FailureReason } from '../policy/failure.ts';
import type { Clock } from '../policy/clock.ts';
import type { Call } from './call.ts';
import { type CallStepWhy, stepsOf, type Waiting } from './callTrail.ts';
import { attemptDueOf, idleDueOf } from './limits.ts';
import type { RateWait } from './rateBucket.ts';

/** What a pending call waits for, and what will end its waiting. Times are in ms from now. */
export interface CallWhy {
  /** An attempt is in flight, or the call waits: for its next attempt, the end of a pause, a restart, a permit, a probe, a sign of life, or its rate limit. */
  readonly phase: 'in_flight' | Waiting;
  /** The attempt in flight, or the last one made; 0 before the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** How long it has been in this phase. */
  readonly phaseMs?: number | undefined;
  /** Of a session's call: attempts that failed and waits that are over, oldest first, the last 40. @defaultValue none */
  readonly trail?: readonly CallStepWhy[] | undefined;
  /** How long the attempt in flight has shown no sign of life. */
  readonly silentMs?: number | undefined;
  /** What happens next if nothing else does. */
  readonly next: {
    readonly rule: FailureReason | 'next_attempt' | 'restart_wait' | 'rate_limit';
    readonly inMs: number;
  };
  /** The rate limit that it waits for. */
  readonly rate?: RateWait | undefined;
  readonly lastFailure?: { readonly kind: FailureKind; readonly message: string } | undefined;
}

/** Says what a call waits for; undefined once it is settled. */
export function whyOf<I, O>(call: Call<I, O>, clock: Pick<Clock, 'now' | 'stalls'>): CallWhy | undefined {
  if (call.settled) return undefined;
  const now = clock.now();
  const { attempt, settings, attempts, waiting = 'permit' } = call;
  const { lastFailure, trail } = call.progress;
  const overall = { rule: 'overall_timeout' as const, inMs: call.overallDue - now };
  const shared = {
    attempt: attempts,
    maxAttempts: settings.retry.maxAttempts,
    phaseMs: now - (trail?.since ?? call.startedAt),
    ...(trail !== undefined && { trail: stepsOf(trail.steps, now) }),
    ...(lastFailure !== undefined && { lastFailure: { kind: lastFailure.kind, message: lastFailure.message } }),
  };
  if (attempt === undefined) {
    const rate = waiting === 'rate' ? call.rate?.heldBack : undefined;
    if (rate !== undefined) {
      const turn = { rule: 'rate_limit' as const, inMs: rate.waitMs };
      return { phase: waiting, ...shared, rate, next: soonest([turn, overall]) };
    }
    const rule = ruleOf(waiting);
    const next = rule === undefined ? overall : { rule, inMs: call.progress.waitUntil - now };
    return { phase: waiting, ...shared, next: soonest([next, overall]) };
  }
  const limits = [
    { rule: 'idle_timeout' as const, inMs: idleDueOf(attempt, clock) - now },
    { rule: 'attempt_timeout' as const, inMs: attemptDueOf(attempt, clock) - now },
    overall,
  ];
  return { phase: 'in_flight', ...shared, silentMs: now - attempt.silentSince, next: soonest(limits) };
}

/** What the end of a wait leads to, where that is not the end of the call's time. */
function ruleOf(waiting: Waiting): 'next_attempt' | 'restart_wait' | undefined {
  if (waiting === 'backoff' || waiting === 'pause') return 'next_attempt';
  return waiting === 'restart' ? 'restart_wait' : undefined;
}

/** The inner limit names the reason where two tie, as it does when they fire. */
function soonest(rules: readonly CallWhy['next'][]): CallWhy['next'] {
  const [first, ...rest] = rules as [CallWhy['next'], ...CallWhy['next'][]];
  return rest.reduce((best, rule) => (rule.inMs < best.inMs ? rule : best), first);
}
