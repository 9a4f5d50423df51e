import type { Clock } from '../policy/clock.ts';
import { formatDuration } from '../policy/text/duration.ts';
import type { Failure, FailureReason } from '../policy/failures/failure.ts';
import type { Limits } from '../policy/policy.ts';
import type { Attempt, AttemptedCall } from './attempt.ts';
import type { Call } from './call.ts';
import type { CallSettings } from './callOptions.ts';

/** Clock that knows of stalls of the event loop: limits on silence and on attempts leave them out. */
type StallClock = Pick<Clock, 'stalls'>;

const stalledSince = ({ stalls }: StallClock, at: number): number => stalls?.since(at) ?? 0;

/** Returns the time an attempt will have been silent for too long, in monotonic ms. */
export function idleDueOf({ call, lastSignAt }: Attempt<AttemptedCall>, clock: StallClock): number {
  return lastSignAt + call.settings.idleMs + stalledSince(clock, lastSignAt);
}

/** Returns the time an attempt will have had its whole time, or its lease, in monotonic ms. */
export function attemptDueOf({ startedAt, limitMs, restedMs }: Attempt<AttemptedCall>, clock: StallClock): number {
  return startedAt + limitMs + restedMs + stalledSince(clock, startedAt);
}

/** Returns the time the first limit of an attempt runs out, in whole ms and as far as is known now: a sign of life moves it. */
export function dueOf(attempt: Attempt<AttemptedCall>, clock: StallClock): number {
  return Math.ceil(Math.min(idleDueOf(attempt, clock), attemptDueOf(attempt, clock), attempt.call.overallDue));
}

/** The same for an attempt that starts now: to read it back from the attempt would make numbers that V8 has to allocate. */
export function firstDueOf(call: AttemptedCall, limitMs: number, now: number): number {
  return Math.ceil(Math.min(now + call.settings.idleMs, now + limitMs, call.overallDue));
}

/** Limits below this have passed before anybody could look: half of them is not told of. */
const leastToldMs = 2000;

/** Returns the time before its end that half of a limit has passed, in ms. */
const halfOf = (limitMs: number): number =>
  limitMs < leastToldMs || limitMs === Number.POSITIVE_INFINITY ? 0 : limitMs / 2;

/** Returns the time half of the first limit of an attempt has passed, as {@link dueOf}. */
export function halfDueOf(attempt: Attempt<AttemptedCall>, clock: StallClock): number {
  const { idleMs } = attempt.call.settings;
  const idleAt = idleDueOf(attempt, clock) - halfOf(idleMs);
  const attemptAt = attemptDueOf(attempt, clock) - halfOf(attempt.limitMs);
  return Math.ceil(Math.min(idleAt, attemptAt, overallHalfOf(attempt.call)));
}

/** Returns the time in ms after the start of a call with these limits at which its first attempt is looked at. */
export function firstLookMs({ idleMs, attemptMs, overallMs }: Limits): number {
  return Math.min(idleMs - halfOf(idleMs), attemptMs - halfOf(attemptMs), overallMs - halfOf(overallMs));
}

/** Returns the time half of the overall limit of a call has passed. */
export function overallHalfOf({ overallDue, settings }: Pick<AttemptedCall, 'overallDue' | 'settings'>): number {
  return overallDue - halfOf(settings.overallMs);
}

/** A limit that has run out. */
export interface ExpiredLimit {
  readonly reason: FailureReason;
  readonly limitMs: number;
  /** The caller made it shorter than the integration has it: that it passed says nothing about the integration. */
  readonly isShortened: boolean;
}

/** Finds the limit of an attempt that has run out; of two that tie the inner one. */
export function expiredLimit(attempt: Attempt<AttemptedCall>, now: number, clock: StallClock): ExpiredLimit {
  const { call, startedAt, restedMs } = attempt;
  const { attemptMs } = call.settings;
  if (now >= idleDueOf(attempt, clock)) return limitNamed('idle_timeout', attempt);
  if (now >= startedAt + attemptMs + restedMs + stalledSince(clock, startedAt))
    return limitNamed('attempt_timeout', attempt);
  return limitNamed(now >= call.overallDue ? 'overall_timeout' : 'lease_expired', attempt);
}

/** A limit of an attempt. */
export type AttemptLimit = 'idle_timeout' | 'attempt_timeout' | 'overall_timeout' | 'lease_expired';

/** The same of one that is told by its name. */
export function limitNamed(reason: AttemptLimit, { call, limitMs }: Attempt<AttemptedCall>): ExpiredLimit {
  const { settings } = call;
  const { ownLimits = settings } = settings;
  const limit = limitOf[reason];
  if (limit === undefined) return { reason, limitMs, isShortened: false };
  return { reason, limitMs: settings[limit], isShortened: settings[limit] < ownLimits[limit] };
}

const limitOf: Readonly<Partial<Record<FailureReason, keyof Limits>>> = {
  idle_timeout: 'idleMs',
  attempt_timeout: 'attemptMs',
  overall_timeout: 'overallMs',
};

/** Returns the length of the limit that a rule is about, in ms; undefined where the rule is no limit. */
export function limitMsOf<I, O>(rule: string, { settings, attempt }: Call<I, O>): number | undefined {
  if (rule === 'attempt_timeout') return attempt?.limitMs ?? settings.attemptMs;
  const limit = rule in limitOf ? limitOf[rule as FailureReason] : undefined;
  return limit === undefined ? undefined : settings[limit];
}

/**
 * The limit that ended a call, and where it was set: nothing was thrown there whose stack could say so. Undefined for other failures.
 * @param usual - of the policy of the integration.
 */
export function limitThatPassed(
  { kind, reason, integration }: Failure,
  settings: Pick<CallSettings<never, never>, keyof Limits | 'ownLimits' | 'session'>,
  usual: Limits,
): string | undefined {
  const limit = kind === 'timeout' && reason !== undefined ? limitOf[reason] : undefined;
  if (limit === undefined) return undefined;
  const { ownLimits = settings, session } = settings;
  const isPolicys = settings[limit] === usual[limit];
  const isOwn = settings[limit] === ownLimits[limit];
  const caller = session === undefined ? 'the options of the call' : 'the session or its tool';
  const by = isPolicys
    ? `the policy of ${integration}`
    : isOwn && session === undefined
      ? 'the settings of the tool'
      : caller;
  return `${limit} ${formatDuration(settings[limit])}, set by ${by}`;
}
