import type { RecentFailures } from '../policy/records/breakerCause.ts';
import { AttemptError, type FailureFacts, type FailureReason } from '../policy/failures/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { formatDuration } from '../policy/text/duration.ts';
import { firedBy, type OrderNote } from '../policy/operatorOrder.ts';
import { rateText } from '../policy/ratePolicy.ts';
import { errorText } from './errorText.ts';
import type { RatePlace } from './rates/ratePlace.ts';

/** The facts of every failure that the call path itself decides; none carries a stack. */

/**
 * @param opened - what opened the circuit.
 * @param keptBy - what it is kept by: its time, a call that tries it now, which may take up to `retryAfterMs`, or its server, which asked for a pause.
 */
export function circuitOpen(
  name: string,
  retryAfterMs: number,
  cause: FailureFacts | undefined,
  opened: RecentFailures,
  keptBy: 'time' | 'probe' | 'pause' = 'time',
): FailureFacts {
  const isolated = retryAfterMs === Number.POSITIVE_INFINITY;
  const nextTry = keptBy === 'probe' ? 'tried' : retryAfterMs;
  return {
    kind: 'circuit_open',
    reason: isolated ? 'isolated' : undefined,
    message: isolated
      ? `${name} is isolated`
      : opened.refusal(name, nextTry, keptBy === 'pause' ? pause : opened.cause),
    outcome: cause?.outcome ?? 'not_started',
    retryAfterMs: isolated ? undefined : Math.max(0, Math.ceil(retryAfterMs)),
    cause,
  };
}

/** Text for an open circuit whose cause is over: its server has answered since. */
export const pauseText = 'its server asked not to be called';
const pause = Object.freeze({ message: `${pauseText} for now` });

export function tooMany(name: string, limit: number): FailureFacts {
  return {
    kind: 'too_many_requests',
    message: `${name} has ${limit} attempts in flight and no room to wait`,
    outcome: 'not_started',
  };
}

/** Another call holds its scope, or what that left behind goes on. */
export function scopeBusy(name: string, scope: string, cause: FailureFacts | undefined): FailureFacts {
  return {
    kind: 'too_many_requests',
    reason: 'scope_busy',
    message: `${name} is busy with another call of the scope ${scope}`,
    outcome: cause?.outcome ?? 'not_started',
    cause,
  };
}

export function replaced(scope: string, inFlight: boolean): FailureFacts {
  return {
    kind: 'cancelled',
    reason: 'replaced',
    message: `Replaced by a newer call of the scope ${scope}`,
    outcome: inFlight ? 'cancelled' : 'not_started',
  };
}

/** Way in which an integration that is down comes back. */
export interface ServerComeback {
  /** Undefined when no restart is planned. */
  readonly restartInMs?: number | undefined;
  readonly isQuarantined?: boolean | undefined;
}

/** A supervisor gave up restarting it: what that means, and what to do. */
function quarantined(name: string, { restartInMs, isQuarantined }: ServerComeback) {
  if (isQuarantined !== true) return undefined;
  const next =
    restartInMs === undefined
      ? `mend the cause, then restart it: unwedge restart ${name}`
      : `it is started again in ${formatDuration(Math.ceil(restartInMs))}, or at once by unwedge restart ${name}`;
  return {
    reason: 'quarantined' as const,
    text: `${name} is in quarantine, as it ended too often; ${next}`,
    // Without a restart by hand a call finds it as it is.
    ...(restartInMs === undefined && { shouldRetry: false }),
  };
}

export function unavailable(name: string, comeback: ServerComeback, lastCrash: FailureFacts | undefined): FailureFacts {
  const aside = quarantined(name, comeback);
  // Its next start fails as the last one did, until somebody mends what stands in the way.
  const needsMending = lastCrash?.kind === 'spawn';
  // This machine was short of something: it is no word on the server, and passes.
  const isShortage = lastCrash?.kind === 'transient' && lastCrash.breaker === 'ignored';
  return {
    kind: isShortage ? 'transient' : 'unavailable',
    ...(isShortage && { code: lastCrash.code }),
    reason: aside?.reason ?? lastCrash?.reason,
    message:
      lastCrash === undefined
        ? (aside?.text ?? `${name} has not started yet`)
        : `${aside?.text ?? `${name} is down and has not come back yet`}: ${lastCrash.message}`,
    outcome: 'not_started',
    retryAfterMs: needsMending ? undefined : comeback.restartInMs,
    ...((needsMending || aside?.shouldRetry === false) && { shouldRetry: false }),
    cause: lastCrash,
  };
}

export function paused(name: string, retryAfterMs: number, cause: FailureFacts | undefined): FailureFacts {
  return {
    kind: 'rate_limit',
    message: `${name} asked not to be called for now`,
    outcome: 'not_started',
    retryAfterMs,
    cause,
  };
}

/** Its part of the rate limit comes too late. */
export function rateLimited(name: string, place: RatePlace | undefined, cause: FailureFacts | undefined): FailureFacts {
  const held = place?.heldBack;
  const waitMs = place?.waitMs ?? 0;
  return {
    kind: 'rate_limit',
    message: `${name} has no room in its rate limit${held === undefined ? '' : ` (${rateText(held)})`} for ${formatDuration(waitMs)}`,
    outcome: cause?.outcome ?? 'not_started',
    retryAfterMs: Math.max(1, Math.ceil(waitMs)),
    cause,
  };
}

/** A call that waited for the verdict on one that equals it. @param isDone - that is known to have taken place. */
export function heldBack(name: string, label: string | undefined, isDone: boolean): FailureFacts {
  const what = label === undefined ? `a call of ${name}` : `${label} of ${name}`;
  return {
    kind: 'unavailable',
    message: isDone
      ? `Not made, as ${what} with the same input took place before`
      : `Not made, as ${what} with the same input lost its answer before, and it is not known whether that took place`,
    outcome: 'unknown',
    // As long as that is not known it would be held back again.
    shouldRetry: false,
  };
}

export function stopped(name: string): FailureFacts {
  return { kind: 'cancelled', reason: 'stopped', message: `${name} is stopped`, outcome: 'unknown' };
}

/** New calls, while what is under way may end. */
export function stopping(name: string): FailureFacts {
  return { kind: 'cancelled', reason: 'stopped', message: `${name} is stopping`, outcome: 'not_started' };
}

/** A call that was to be repeated after a restart which did not come in time. */
export function notBack(
  name: string,
  comeback: ServerComeback,
  lastFailure: FailureFacts,
  limitMs: number,
): FailureFacts {
  const aside = quarantined(name, comeback);
  const message = `${lastFailure.message}; ${aside?.text ?? `it was not back within ${formatDuration(limitMs)}`}`;
  return {
    ...lastFailure,
    message,
    retryAfterMs: comeback.restartInMs,
    ...(aside !== undefined && { reason: aside.reason }),
    ...(aside?.shouldRetry === false && { shouldRetry: false }),
  };
}

/** A call whose next attempt would come after the end. */
export function notTriedAgain(lastFailure: FailureFacts): FailureFacts {
  return { ...lastFailure, reason: 'stopped' };
}

/** Makes the facts of an end by an operator: no failure of the integration, whatever was in flight. */
export function restarted(name: string): FailureFacts {
  return {
    kind: 'cancelled',
    reason: 'restarted',
    message: `${name} was restarted by an operator`,
    outcome: 'unknown',
  };
}

export function machineLost(name: string): FailureFacts {
  return { kind: 'crash', message: `The actor of ${name} crashed`, outcome: 'unknown' };
}

export function tooMuchAbandoned(name: string, policy: IntegrationPolicy): FailureFacts {
  return {
    kind: 'crash',
    reason: 'hang',
    message: `More than ${policy.maxAbandoned} attempts of ${name} go on after they were aborted`,
    outcome: 'unknown',
  };
}

/** Reason of an abort by which its call ends as that failure. */
export class EndedAs extends AttemptError {}

export function cancelled(reason: unknown, inFlight: boolean): FailureFacts {
  if (reason instanceof EndedAs) return inFlight ? reason.facts : { ...reason.facts, outcome: 'not_started' };
  return {
    kind: 'cancelled',
    message: cancelMessage(reason),
    outcome: inFlight ? 'cancelled' : 'not_started',
    cause: reason,
  };
}

function cancelMessage(reason: unknown): string {
  const text = errorText(reason);
  return text === undefined ? 'Cancelled by the caller' : `Cancelled: ${text}`;
}

/** A call whose time was over before anything was started for it. */
export function notStarted(limitMs: number): FailureFacts {
  return {
    kind: 'timeout',
    reason: 'overall_timeout',
    message: `Not started within ${formatDuration(limitMs)}`,
    outcome: 'not_started',
  };
}

export function timedOut(reason: FailureReason, limitMs: number): FailureFacts {
  const what = reason === 'idle_timeout' ? 'No sign of life' : 'No answer';
  return { kind: 'timeout', reason, message: `${what} within ${formatDuration(limitMs)}`, outcome: 'unknown' };
}

/** A limit that an operator had act before its time. */
export function fired(rule: FailureReason, limitMs: number, note: OrderNote): FailureFacts {
  const limit = `${limitNames[rule] ?? rule} of ${formatDuration(limitMs)}`;
  return { kind: 'timeout', reason: 'by_operator', message: `The ${limit} was ${firedBy(note)}`, outcome: 'unknown' };
}

/** The end of a wait that an operator had act before its time. */
export function waitFired(facts: FailureFacts, rule: string, note: OrderNote): FailureFacts {
  const isOwn = facts.reason === 'overall_timeout';
  const before = isOwn ? 'Not started' : facts.message;
  const what = rule === 'restart_wait' ? 'wait for a restart' : (limitNames[rule as FailureReason] ?? rule);
  const message = `${before}; the ${what} was ${firedBy(note)}`;
  return { ...facts, message, ...(isOwn && { reason: 'by_operator' as const }) };
}

const limitNames: Readonly<Partial<Record<FailureReason, string>>> = {
  idle_timeout: 'idle limit',
  attempt_timeout: 'attempt limit',
  overall_timeout: 'overall limit',
  lease_expired: 'limit of a probe',
};
