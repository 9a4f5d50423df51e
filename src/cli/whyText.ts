import type { CallWhy } from '../calls/callWhy.ts';
import { reconcileText } from '../calls/reconcileText.ts';
import { formatDuration } from '../policy/duration.ts';
import { rateWaitText } from '../policy/rateText.ts';
import type { SessionRecords } from '../store/storeReader.ts';
import type { SessionWhy, ToolCallWhy } from '../sessions/why.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './timeText.ts';

/** What a live session waits for, for people. */
export function whyText(why: SessionWhy): string {
  const { turn, waiting, next } = why;
  const mailbox = `${waiting} ${waiting === 1 ? 'message waits' : 'messages wait'}`;
  const head =
    turn === undefined
      ? `${sanitize(why.session)} is ${why.heldElsewhere ? 'held by another gateway' : sanitize(why.state)}; ${mailbox}.`
      : `${sanitize(why.session)} processes ${sanitize(turn.message)} (${sanitize(turn.kind)}) for ${time(turn.sinceMs)}${
          turn.delivery > 1 ? `, begun for the ${turn.delivery}. time` : ''
        }; ${mailbox}.`;
  const lines = [
    head,
    ...recoveringLines(why.recovering ?? []),
    ...why.calls.flatMap(callLines),
    ...why.questions.map(
      ({ what, sinceMs, deadlineInMs }) =>
        `  asks a person for ${time(sinceMs)}: ${sanitize(what)}; given up in ${time(deadlineInMs)}`,
    ),
  ];
  if (turn !== undefined && why.calls.length + why.questions.length === 0) {
    lines.push('  no call is pending: its handler is at work');
  }
  if (next !== undefined) lines.push(`Next: ${ruleText(next)} in ${time(next.inMs)}.`);
  return `${lines.join('\n')}\n`;
}

/** Its messages wait meanwhile. */
function recoveringLines(calls: NonNullable<SessionWhy['recovering']>): string[] {
  if (calls.length === 0) return [];
  const what = calls.length === 1 ? 'a call' : `${calls.length} calls`;
  return [`  finds out first what became of ${what} of an earlier process:`, ...calls.flatMap(callLines)];
}

function ruleText({ rule, what }: NonNullable<SessionWhy['next']>): string {
  const name = sanitize(what);
  if (rule === 'tool_call' || rule === 'turn') return `the watchdog ends ${name}`;
  if (rule === 'question') return `nobody is waited for any more to answer ${name}`;
  if (rule === 'next_attempt') return `${name} is tried again`;
  if (rule === 'rate_limit') return `the rate limit has room for ${name}`;
  if (rule === 'reconcile') return `it is known whether ${name} happened, or asked again`;
  if (rule === 'restart_wait') return `${name} no longer waits for a restart`;
  const ofAttempt = rule === 'idle_timeout' || rule === 'attempt_timeout';
  return `${sanitize(rule)} ends ${ofAttempt ? 'the attempt of ' : ''}${name}`;
}

function callLines({ call, integration, tool, sinceMs, progress, target }: ToolCallWhy): string[] {
  const name = `${sanitize(integration)} ${sanitize(tool)} (${sanitize(call)})`;
  const lines = [`  ${name} for ${time(sinceMs)}: ${phaseText(progress)}`];
  if (progress?.lastFailure !== undefined) {
    const { kind, message } = progress.lastFailure;
    lines.push(`    last attempt: ${kind}: ${sanitize(message)}`);
  }
  if (target !== undefined) {
    const probe = target.probeInMs === undefined ? '' : `, probe in ${time(target.probeInMs)}`;
    lines.push(
      `    ${sanitize(integration)} ${stateText(target.state, progress)}, circuit ${sanitize(target.circuit)}${probe}`,
    );
    const { pid, lastLine } = target.process ?? {};
    const process = pid === undefined ? 'its process' : `process ${pid}`;
    if (lastLine !== undefined) lines.push(`    ${process} said last: ${sanitize(lastLine)}`);
    else if (pid !== undefined) lines.push(`    ${process} runs`);
  }
  return lines;
}

/** The machine is in `backoff` whatever its calls wait for. */
function stateText(state: string, progress: CallWhy | undefined): string {
  if (state !== 'backoff' || progress?.phase === 'backoff') return `is ${sanitize(state)}`;
  return progress?.phase === 'rate' ? 'holds its calls back for its rate limit' : 'has calls that wait';
}

function phaseText(progress: CallWhy | undefined): string {
  if (progress === undefined) return 'is being written to the store';
  const { phase, attempt, maxAttempts, silentMs, next, rate, reconciling } = progress;
  const attempts = `attempt ${attempt} of ${maxAttempts}`;
  const then =
    next.rule === 'next_attempt' ? `tried again in ${time(next.inMs)}` : `${next.rule} in ${time(next.inMs)}`;
  if (phase === 'in_flight') return `${attempts} in flight, silent for ${time(silentMs ?? 0)}; ${then}`;
  if (rate !== undefined) {
    const place = sanitize(rateWaitText(rate));
    return next.rule === 'rate_limit' ? place : `${place}; ${then}`;
  }
  if (reconciling !== undefined) return sanitize(reconcileText(reconciling, next.inMs));
  return `${waits[phase]}, ${attempt === 0 ? 'not tried yet' : `after ${attempts}`}; ${then}`;
}

const waits: Readonly<Record<Exclude<CallWhy['phase'], 'in_flight'>, string>> = {
  backoff: 'waits for its next attempt',
  pause: 'waits for the end of a pause that the server asked for',
  restart: 'waits for a restart',
  permit: 'waits for a permit',
  probe: 'waits for a probe of the circuit',
  scope: 'waits for the run of its scope to end',
  suspect: 'waits for a sign of life of the server',
  rate: 'waits for its rate limit',
  reconciling: 'waits to know whether it happened',
};

/** What the records say of a session whose gateway does not answer. */
export function recordsText({ session, messages, calls, deadLetters }: SessionRecords, now: number): string {
  const lines = [`${sanitize(session)}, by its records:`];
  for (const { id, kind, state, deliveries, postedAt } of messages) {
    const begun = deliveries === 0 ? '' : `, begun ${deliveries} ${deliveries === 1 ? 'time' : 'times'}`;
    lines.push(`  message ${sanitize(id)} (${sanitize(kind)}) is ${state}${begun}, accepted ${ago(postedAt, now)}`);
  }
  for (const { call, integration, tool, startedAt, deadlineAt } of calls) {
    const due = deadlineAt > now ? `due in ${time(deadlineAt - now)}` : `overdue for ${time(now - deadlineAt)}`;
    lines.push(
      `  call ${sanitize(call)}: ${sanitize(integration)} ${sanitize(tool)} pending, started ${ago(startedAt, now)}, ${due}`,
    );
  }
  for (const { id, reason } of deadLetters) lines.push(`  message ${sanitize(id)} is a dead letter: ${reason}`);
  if (lines.length === 1) lines.push('  nothing waits and nothing is pending');
  return `${lines.join('\n')}\n`;
}

const time = (ms: number): string => formatDuration(ms);
