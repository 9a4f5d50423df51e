import { backoffDelayMs } from '../../src/policy/face.ts';
import { formatDuration, shellWord } from '../../src/policy/text/face.ts';
import {
  type Failure,
  type FailureFacts,
  type FailureKind,
  failureKinds,
  hintIn,
} from '../../src/policy/failures/face.ts';
import type { AgentLeft } from '../../src/integrations/subprocess/face.ts';
import type { FactOf } from '../../src/policy/facts/face.ts';
import type { BreakerCause } from '../../src/policy/records/face.ts';
import { sanitize } from '../sanitize.ts';
import { pauseText } from '../../src/calls/face.ts';
import type { RunPlan } from './request.ts';
import type { RunEnd } from './supervisedRun.ts';
import { localTime } from '../text.ts';

const mayHelp = 'trying again may help';
const tryLater = 'try again later';

/** Advice for a failure of a kind that says no time. */
const advice: { readonly [K in FailureKind]?: string } = {
  transient: mayHelp,
  overloaded: tryLater,
  rate_limit: tryLater,
  quota: tryLater,
  timeout: mayHelp,
  crash: mayHelp,
  protocol: 'trying again will hardly help',
  spawn: 'trying again does not help',
  auth: 'trying again does not help before the credentials are right',
  permanent: 'trying again does not help',
};

/**
 * Writes the last words on stderr at the end of a run: the event, and whether and when to try again. A plain exit code is an answer of the command's own,
 * which speaks for itself.
 */
export function lastWords(
  plan: Pick<RunPlan, 'name' | 'policy'>,
  end: Pick<RunEnd, 'outcome' | 'notRepeated' | 'attempts' | 'elapsedMs' | 'left'> &
    Partial<Pick<RunEnd, 'opened' | 'exit'>>,
  now: number,
): readonly string[] {
  const { outcome, notRepeated, left } = end;
  if (outcome.ok) return noteLines(end);
  const { failure } = outcome;
  // By Ctrl-C: the user who pressed it knows.
  if (failure.kind === 'cancelled')
    return [...(failure.reason === undefined ? [] : [failureLine(failure)]), ...leftLines(left)];
  if (failure.kind === 'circuit_open') return [circuitLine(plan, failure, end.opened, now), ...leftLines(left)];
  const again =
    notRepeated === undefined
      ? untimely(plan, failure, end)
      : [`not tried again: ${sanitize(notRepeated)}; --retry always begins anew`];
  const isPlainExit = failure.kind === 'unknown' && failure.reason !== 'empty_response';
  const lines = isPlainExit ? [...hintLines(failure), ...again] : [failureLine(failure, left), ...again];
  // Why it was not tried again says so already.
  const isSaid = notRepeated !== undefined && left?.sessionId === undefined;
  return [...lines, ...(isSaid ? [] : leftLines(left)), ...noteLines(end)];
}

/** Facts of an agent's run that are told however it ended: work that it left behind, a session that is not whole. */
function noteLines({ left, exit }: Pick<RunEnd, 'left'> & Partial<Pick<RunEnd, 'exit'>>): readonly string[] {
  if (left === undefined) return [];
  const running = exit?.leftRunning?.map((name) => sanitize(name)).join(', ');
  return [
    ...(running === undefined ? [] : [`it left work in the background, which was ended with it: ${running}`]),
    ...(left.sessionLost === true ? ['its session could not be kept whole, and may not be resumed as it was'] : []),
  ];
}

/** A shell has no other way to tell that a signal ended its command. */
function hintLines({ code, message }: Failure): readonly string[] {
  const hint = hintIn(message);
  return hint === undefined ? [] : [`exit code ${code}, ${hint}`];
}

/** That an agent whose run failed may have changed something, which a new run would do again, and how to go on with its session. */
export function leftLines(left: AgentLeft | undefined): readonly string[] {
  if (left?.effects !== 'possible') return [];
  const { agent, sessionId, resumeWords: words } = left;
  // Ended together with its commands, Claude keeps what became of the last one as an exit code.
  const check = agent === 'claude' ? ', and have it check what its last call did' : '';
  const isOver = sessionId === undefined || words === undefined;
  const next = isOver ? '' : `; go on with: ${words.join(' ')} ${shellWord(sanitize(sessionId))}${check}`;
  return [`it may have changed something, and another run begins anew${next}`];
}

/** Tells of repetition; the last words tell of the end. */
export const spinningLines = ({ step, message }: FactOf<'session.spinning'>): readonly string[] =>
  step === 'hold' || step === 'end' ? [] : [`it spins: ${sanitize(message)}`];

/** Tells whether the circuit that a run ended by was opened by its own attempts: its last words say so. */
export function openedItself({ outcome }: Pick<RunEnd, 'outcome'>): boolean {
  return !outcome.ok && outcome.failure.kind === 'circuit_open' && outcome.failure.attempts > 0;
}

/** That there was no time for another attempt, where the limit on the whole left none. */
function untimely(
  { policy: { retry, limits } }: Pick<RunPlan, 'policy'>,
  failure: Failure,
  { attempts, elapsedMs }: Pick<RunEnd, 'attempts' | 'elapsedMs'>,
): readonly string[] {
  if (attempts === 0 || attempts >= retry.maxAttempts || !isRepeated(failure)) return [];
  const backoffMs = backoffDelayMs(retry.backoff, attempts + 1, mostOfAll);
  const longestMs = failure.kind === 'overloaded' ? backoffMs * retry.overloadedFactor : backoffMs;
  const waitMs = Math.max(longestMs, failure.retryAfterMs ?? 0);
  if (elapsedMs + waitMs < limits.overallMs) return [];
  const which = `attempt ${attempts + 1} of ${retry.maxAttempts}`;
  return [`not tried again: no time was left for ${which} within ${formatDuration(limits.overallMs)}`];
}

/** Tells whether it would have been tried again. */
const isRepeated = ({ kind, retryable, resumable }: Failure): boolean =>
  (retryable || resumable === true) && failureKinds[kind].retried;

/** Chance at its most. */
const mostOfAll = (): number => 1 - Number.EPSILON;

/** Writes one line about a failure: its kind, what happened, and whether and when to try again. To try again helps no agent that may have acted. */
export function failureLine(failure: Failure, left?: AgentLeft): string {
  const isLost = left?.effects === 'possible' && failure.retryAfterMs === undefined;
  const said = advice[failure.kind];
  const isAdvised = said === mayHelp || said === tryLater || failure.reason === 'empty_response';
  const next = isLost && isAdvised ? '' : later(failure);
  return `${failure.kind}: ${sanitize(failure.message).replace(/\.$/, '')}${next}`;
}

function circuitLine(
  { name, policy }: Pick<RunPlan, 'name' | 'policy'>,
  failure: Failure,
  opened: BreakerCause | undefined,
  now: number,
): string {
  const { attempts, message, reason, retryAfterMs } = failure;
  if (retryAfterMs === undefined || reason === 'isolated')
    return `${sanitize(message).replace(/^The /, 'the ')}; the command was not run`;
  const when = notBefore(failure, now);
  if (attempts === 0 && message.includes(pauseText))
    return `${sanitize(name)}: ${pauseText} for now; ${when}; the command was not run`;
  if (attempts === 0) {
    const last = opened?.message ? ` (last: ${sanitize(opened.message)})` : '';
    return `${failedText(name, opened)}${last}, ${when}; the command was not run`;
  }
  const cause = failure.cause as FailureFacts | undefined;
  const why = cause === undefined ? '' : `${cause.kind}: ${sanitize(cause.message).replace(/\.$/, '')}; `;
  return `${why}after attempt ${attempts} of ${policy.retry.maxAttempts} ${failedText(name, opened)}, ${when}`;
}

function later({ kind, reason, retryAfterMs }: Failure): string {
  if (reason === 'empty_response') return `; ${mayHelp}`;
  if (retryAfterMs !== undefined) return `; try again in ${formatDuration(Math.ceil(retryAfterMs / 1000) * 1000)}`;
  return advice[kind] === undefined ? '' : `; ${advice[kind]}`;
}

/** From here on a time needs no seconds, in ms. */
const longMs = 10 * 60_000;

/** Tells the failures of a command, in the words of somebody who has no gateway. @param cause - undefined: that is not known. */
export function failedText(name: string, cause: BreakerCause | undefined): string {
  const rule = cause?.rule;
  const shown = sanitize(name);
  switch (rule?.name) {
    case 'consecutive_failures':
      return `${shown} failed ${rule.failures === 1 ? 'once' : `${rule.failures} times in a row`}`;
    case 'failure_ratio':
      return `${shown} failed in ${rule.failures} of its last ${rule.attempts} attempts`;
    case 'failed_probe':
      return `${shown} failed again when it was tried`;
    case 'quota':
      return `${shown} has no quota left`;
    case 'isolated':
    case undefined:
      return `${shown} failed too often`;
  }
}

/** From when on it is run again, in the time zone of the reader. @param now - wall time in ms since the epoch. */
export function notBefore({ retryAfterMs = 0 }: Pick<Failure, 'retryAfterMs'>, now: number): string {
  if (retryAfterMs <= 0) return 'another run tries it now';
  // Rounded up, so that nobody comes too early.
  const step = retryAfterMs < longMs ? 1000 : 60_000;
  const time = localTime(Math.ceil((now + retryAfterMs) / step) * step);
  const today = localTime(now).slice(0, 10);
  const day = time.startsWith(today) ? '' : `${time.slice(0, 10)} `;
  return `it is not run before ${day}${time.slice(11, retryAfterMs < longMs ? 19 : 16)}`;
}
