import type { Effect, RepeatAfter } from '../policy/effects.ts';
import type { FailureKind, FailureReason } from '../policy/failures/failure.ts';
import type { Clock } from '../policy/clock.ts';
import type { Call } from './call.ts';
import { type CallStepWhy, stepsOf, type Waiting } from './callProgress.ts';
import { attemptDueOf, idleDueOf } from './limits.ts';
import type { OpenEffect } from './reconcile/openEffects.ts';
import type { RateWait } from './rates/rateBucket.ts';

/** A rule that acts on the wait of a call, unless something else does before. All but `ping` end it. */
export interface CallRule {
  /** Tells it from the rules of every other wait of the call. */
  readonly id: string;
  /** `ping`: the other side is asked whether it lives; the call goes on where it does. */
  readonly rule: FailureReason | 'next_attempt' | 'restart_wait' | 'rate_limit' | 'reconcile' | 'ping';
  readonly inMs: number;
  /** Name of another call that the limit is of and that this one waits for. @defaultValue its own */
  readonly of?: string | undefined;
}

/** State of a pending call: its wait, and the end of that. Times are in ms from now. */
export interface CallWhy {
  /** An attempt is in flight, or the call waits: for its next attempt, the end of a pause, a restart, a permit, a probe, a sign of life, or its rate limit. */
  readonly phase: 'in_flight' | Waiting;
  /** The attempt in flight, or the last one made; 0 before the first. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Time that it has been in this phase. */
  readonly phaseMs?: number | undefined;
  /** Trail of a session's call: attempts that failed and waits that are over, oldest first, the last 40. @defaultValue none */
  readonly trail?: readonly CallStepWhy[] | undefined;
  /** Time for which the attempt in flight has shown no sign of life. */
  readonly silentMs?: number | undefined;
  /** Next thing to happen if nothing else does. */
  readonly next: CallRule;
  /** The other rules that hold as long as it waits, soonest first. @defaultValue none */
  readonly also?: readonly CallRule[] | undefined;
  /** After which kind of failure another attempt follows at the most. */
  readonly repeatAfter?: RepeatAfter | undefined;
  /** Effect that it may have on the world, where somebody said. */
  readonly effect?: Effect | undefined;
  /** True where a rule finds out the fate of a lost answer. @defaultValue false */
  readonly reconciles?: true | undefined;
  /** The rate limit that it waits for. */
  readonly rate?: RateWait | undefined;
  /** Question about the lost answer that it waits for. */
  readonly reconciling?: ReconcileWhy | undefined;
  readonly lastFailure?: { readonly kind: FailureKind; readonly message: string } | undefined;
}

/** Fate of a lost answer. Times are in ms from now. */
export interface ReconcileWhy {
  /** Target that is asked: a tool, or a function. */
  readonly asks: string;
  /** The tool of the call whose answer was lost. */
  readonly about: string;
  /** It is the answer of a call that this one equals; its own was not made. */
  readonly held: boolean;
  /** State of it: it waits for its turn to be asked, is asked as of now, will be asked again, that call goes on as it is kept, or it is made again. */
  readonly state: 'queued' | 'asking' | 'waiting' | 'kept' | 'repeating';
  /** Number of times it was asked. */
  readonly probes: number;
  /** Time until the probe has had its time, the next one begins, or the call is kept no longer. */
  readonly inMs?: number | undefined;
}

/**
 * Says what a call waits for; undefined once it is settled.
 * @param goesOn - whether the attempt in flight goes on at its idle limit while the other side answers.
 */
export function whyOf<I, O>(
  call: Call<I, O>,
  clock: Pick<Clock, 'now' | 'stalls'>,
  goesOn = false,
): CallWhy | undefined {
  if (call.settled) return undefined;
  const now = clock.now();
  const { attempt, settings, attempts, waiting = 'permit' } = call;
  const { lastFailure, trail, triesLast } = call.progress;
  // The same whatever the call waits for until then.
  const overall = { id: 'overall_timeout', rule: 'overall_timeout' as const, inMs: call.overallDue - now };
  const shared = {
    attempt: attempts,
    maxAttempts: triesLast ? attempts : settings.retry.maxAttempts,
    phaseMs: now - (trail?.since ?? call.startedAt),
    ...repetitionOf(call),
    ...(trail !== undefined && { trail: stepsOf(trail.steps, now) }),
    ...(lastFailure !== undefined && { lastFailure: { kind: lastFailure.kind, message: lastFailure.message } }),
  };
  if (attempt === undefined) {
    const rate = waiting === 'rate' ? call.rate?.heldBack : undefined;
    if (rate !== undefined) {
      const turn = { id: `${attempts}:rate`, rule: 'rate_limit' as const, inMs: rate.waitMs };
      return { phase: waiting, ...shared, rate, ...inOrder([turn, overall]) };
    }
    const effect = waiting === 'reconciling' ? (call.progress.openEffect as OpenEffect<I, O> | undefined) : undefined;
    if (effect !== undefined) {
      const reconciling = reconcileWhyOf(effect, call, now);
      const { probes, inMs, state } = reconciling;
      if (state === 'kept') {
        const end = { ...overall, inMs: call.progress.waitUntil - now };
        return { phase: waiting, ...shared, reconciling, ...inOrder([end]) };
      }
      const step = inMs === undefined ? overall : { id: `${probes}:reconcile`, rule: 'reconcile' as const, inMs };
      return { phase: waiting, ...shared, reconciling, ...inOrder([step, overall]) };
    }
    const rule = ruleOf(waiting);
    const next =
      rule === undefined ? overall : { id: `${attempts}:${waiting}`, rule, inMs: call.progress.waitUntil - now };
    return { phase: waiting, ...shared, ...inOrder([next, overall]) };
  }
  const limitOf = (rule: 'idle_timeout' | 'attempt_timeout' | 'ping', due: number): CallRule => {
    return { id: `${attempts}:${rule}`, rule, inMs: due - now };
  };
  const limits = [
    limitOf(goesOn ? 'ping' : 'idle_timeout', idleDueOf(attempt, clock)),
    limitOf('attempt_timeout', attemptDueOf(attempt, clock)),
    overall,
    ...innerLimitsOf(call).map(({ of, rule, due }) => ({ id: `${attempts}:${of}:${rule}`, rule, inMs: due - now, of })),
  ];
  return { phase: 'in_flight', ...shared, silentMs: now - attempt.silentSince, ...inOrder(limits) };
}

function reconcileWhyOf<I, O>(effect: OpenEffect<I, O>, call: Call<I, O>, now: number): ReconcileWhy {
  const { phase, rule, loss, probes, due } = effect;
  const state = phase === 'over' ? 'repeating' : phase === 'writing' ? 'asking' : phase;
  const { tool, integration } = loss.answer;
  const about = { asks: rule.asks, about: tool ?? integration, held: effect.call !== call, state, probes } as const;
  const until = state === 'kept' ? (effect.kept?.givenUp?.due ?? now) : due;
  return state === 'repeating' || state === 'queued' ? about : { ...about, inMs: Math.max(0, until - now) };
}

/** Returns the rule at the end of a wait, where that is not the end of the call's time. */
function ruleOf(waiting: Waiting): 'next_attempt' | 'restart_wait' | undefined {
  if (waiting === 'backoff' || waiting === 'pause') return 'next_attempt';
  return waiting === 'restart' ? 'restart_wait' : undefined;
}

/** The soonest first. The inner limit names the reason where two tie, as it does when they fire. */
function inOrder(rules: readonly CallRule[]): Pick<CallWhy, 'next' | 'also'> {
  const [next, ...rest] = rules.toSorted((one, other) => one.inMs - other.inMs) as [CallRule, ...CallRule[]];
  const also = rest.filter(({ id, inMs }) => id !== next.id && Number.isFinite(inMs));
  return { next, ...(also.length > 0 && { also }) };
}

/** Tells whether another attempt may follow, as far as the effect of the call decides that. */
function repetitionOf<I, O>(call: Call<I, O>): Pick<CallWhy, 'repeatAfter' | 'effect' | 'reconciles'> {
  const { settings, expectedEffect: effect } = call;
  const declared = effect === 'mutating' ? 'refused' : 'lost';
  return {
    repeatAfter: effect === undefined ? settings.retry.repeatAfter : declared,
    ...(effect !== undefined && { effect }),
    ...(settings.reconcile !== undefined && { reconciles: true }),
  };
}

/** Work of a call that a limit has ended, and that goes on as it is kept; in ms from now. */
export interface KeptWhy {
  readonly integration: string;
  readonly tool?: string | undefined;
  /** Time since the call was made. */
  readonly sinceMs: number;
  /** Time until it is kept no longer. */
  readonly inMs: number;
  /** The same as wall time, in ms since the epoch. */
  readonly until: number;
}

/** A limit of a supervised call that an operation waits for. */
export interface InnerLimit {
  /** Owner of it, for people. */
  readonly of: string;
  readonly rule: 'idle_timeout' | 'attempt_timeout' | 'overall_timeout';
  /** In monotonic ms; a limit without end is left out. */
  readonly due: number;
}

const known = new WeakMap<object, () => readonly InnerLimit[]>();

/** Has what is said of a call name the limits that end what it waits for. @param call - of the context of its attempt. */
export function tellInnerLimits(call: object, limits: () => readonly InnerLimit[]): void {
  known.set(call, limits);
}

export function innerLimitsOf(call: object): readonly InnerLimit[] {
  return known.get(call)?.() ?? [];
}
