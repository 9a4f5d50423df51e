import {
  type LayerWhy,
  type RuleWhy,
  type SessionWhy,
  type ToolCallWhy,
  defaultMaxDeliveries,
} from '../src/sessions/face.ts';
import type { CallRule, CallWhy } from '../src/calls/face.ts';
import { reconcileText } from '../proxy/wire/reconcileText.ts';
import { formatDuration } from '../src/policy/text/face.ts';
import { rateWaitText } from '../src/policy/face.ts';
import type { SessionOwner, SessionRecords } from '../reader/storeReader.ts';
import type { PolicyRow } from '../src/policy/records/face.ts';
import { sanitize } from './sanitize.ts';
import { ago, counted, wrapLines } from './text.ts';

/** Describes the wait of a live session, for people. @param width - of the terminal. @defaultValue no limit */
export function whyText(why: SessionWhy, width = Number.POSITIVE_INFINITY, own = 'unwedge'): string {
  const { turn, waiting, spinning } = why;
  const mailbox = counted(waiting, 'message waits', 'messages wait');
  const head =
    turn === undefined
      ? `${sanitize(why.session)} is ${why.heldElsewhere ? 'held by another gateway' : sanitize(why.state)}; ${mailbox}.`
      : `${sanitize(why.session)} processes ${sanitize(turn.message)} (${sanitize(turn.kind)}) for ${time(turn.sinceMs)}${
          turn.delivery > 1 ? `, begun for the ${ordinal(turn.delivery)} time` : ''
        }; ${mailbox}.`;
  const lines = [
    head,
    ...recoveringLines(why),
    ...keptLines(why),
    ...why.calls.flatMap((call) => callLines(call, why)),
    ...why.questions.map(
      ({ question, inbox = false, what, sinceMs, deadlineInMs }) =>
        `  asks a person for ${time(sinceMs)}: ${sanitize(what)}${deadlineInMs === undefined ? '' : `; given up in ${time(deadlineInMs)}`}${inbox ? `; ${own} inbox answer ${sanitize(question.slice(0, 8))}` : ''}`,
    ),
  ];
  if (spinning !== undefined) lines.push(`  repeats: ${sanitize(spinning.message)}${stepText(spinning)}`);
  if (turn !== undefined && why.calls.length + why.questions.length === 0) {
    lines.push('  no call is pending: its handler is at work');
    // It may wait until that can be called again, such as an open circuit.
    lines.push(...endedLines((why.ended ?? []).slice(-1)));
  }
  if (turn === undefined) lines.push(...endedLines(why.ended));
  lines.push(...endLines(why));
  return wrapLines(lines, width);
}

/** The step that follows. */
export const stepText = ({ next }: NonNullable<SessionWhy['spinning']>): string =>
  next === undefined ? '' : `; ${next.step} after ${next.more} more`;

/** Calls that failed: of a session that processes nothing, as a proxy tells the call that it answered as its server did not, or the last of a turn. */
function endedLines(ended: SessionWhy['ended'] = []): readonly string[] {
  return ended.flatMap(({ integration, tool, call, sinceMs, endedAgoMs, failure }) => {
    if (failure === undefined) return [];
    const name = `${sanitize(integration)} ${sanitize(tool)} (${sanitize(call)})`;
    const lasted = time(sinceMs - endedAgoMs);
    return [`  ${name} failed ${time(endedAgoMs)} ago, after ${lasted}: ${failure.kind}: ${sanitize(failure.message)}`];
  });
}

/** Its messages wait meanwhile. */
function recoveringLines(why: SessionWhy): string[] {
  const { recovering: calls = [] } = why;
  if (calls.length === 0) return [];
  const what = calls.length === 1 ? 'a call' : `${calls.length} calls`;
  return [
    `  finds out first what became of ${what} of an earlier process:`,
    ...calls.flatMap((call) => callLines(call, why)),
  ];
}

/** Tells of work that outlives its call. */
function keptLines({ kept = [] }: SessionWhy): readonly string[] {
  return kept.map(({ integration, tool = 'a call', sinceMs, until }) => {
    const at = new Date(until).toISOString().slice(11, 19);
    return `  goes on after its limit: ${sanitize(integration)} ${sanitize(tool)} for ${time(sinceMs)}, kept until ${at} UTC: the same call joins it`;
  });
}

/** Describes the first end of the wait, and the end of the gateway where that is nearer. */
function endLines(why: SessionWhy): readonly string[] {
  const { next, stopping } = why;
  const rule = next && `${ruleText(next)} in ${time(next.inMs)}`;
  if (stopping === undefined) return rule === undefined ? [] : [`Next: ${rule}.`, ...afterPing(why)];
  const { inMs, sinceMs } = stopping;
  const begun = sinceMs === undefined ? '' : ` (begun ${time(sinceMs)} ago)`;
  const stop =
    inMs > 0
      ? `the gateway stops${begun}, and cuts in ${time(inMs)} what is under way by then`
      : 'the gateway stops now';
  if (rule === undefined) return [`Next: ${stop}.`];
  return next !== undefined && next.inMs < inMs
    ? [`Next: ${rule}.`, `After that: ${stop}.`]
    : [`Next: ${stop}.`, `Its own rule, ${ruleText(next as RuleWhy)}, would follow in ${time(next?.inMs ?? 0)}.`];
}

/** Describes the end of a call whose server is asked next, where that answers. */
function afterPing({ next, rules, calls }: SessionWhy): readonly string[] {
  if (next?.rule !== 'ping') return [];
  const also = calls.find(({ call }) => call === next.call)?.progress?.also ?? [];
  const ends = [...also, ...rules.filter(({ call, rule }) => call === next.call && rule === 'tool_call')];
  const [first] = ends.toSorted((one, other) => one.inMs - other.inMs);
  if (first === undefined) return [];
  const end = `${ruleText({ ...first, what: next.what })} in ${time(first.inMs)}`;
  return [`Where it answers, ${end}; where it does not, it is killed.`];
}

/** Describes the act of a rule when its time has come. */
export function ruleText({ rule, what, of }: NonNullable<SessionWhy['next']>): string {
  const name = sanitize(what);
  if (of !== undefined) return `${sanitize(rule)} of ${sanitize(of)} ends ${name}`;
  if (rule === 'tool_call' || rule === 'turn') return `the watchdog ends ${name}`;
  if (rule === 'release') return `${name}, which was told to end, is left behind`;
  if (rule === 'question') return `nobody is waited for any more to answer ${name}`;
  if (rule === 'next_attempt') return `${name} is tried again`;
  if (rule === 'rate_limit') return `the rate limit has room for ${name}`;
  if (rule === 'reconcile') return `it is known whether ${name} happened, or asked again`;
  if (rule === 'restart_wait') return `${name} no longer waits for a restart`;
  if (rule === 'ping') return `the server of ${name} is asked whether it lives (ping)`;
  const ofAttempt = rule === 'idle_timeout' || rule === 'attempt_timeout';
  return `${sanitize(rule)} ends ${ofAttempt ? 'the attempt of ' : ''}${name}`;
}

function callLines(about: ToolCallWhy, why: SessionWhy): string[] {
  const { call, integration, tool, sinceMs, progress, target, waitsFor, behind = [] } = about;
  const name = `${sanitize(integration)} ${sanitize(tool)} (${sanitize(call)})`;
  const lines = [`  ${name} for ${time(sinceMs)}: ${phaseText(progress)}`];
  if (waitsFor !== undefined) lines.push(`    ${sanitize(waitsFor)}`);
  lines.push(...behind.map((layer) => `    behind it: ${layerText(layer)}`));
  const also = [
    ...(progress?.also ?? []),
    ...why.rules.filter((each) => each.call === call && each.rule === 'tool_call' && each !== why.next),
  ].toSorted((one, other) => one.inMs - other.inMs);
  // Rules that come after the watchdog come never.
  const last = also.findIndex(({ rule }) => rule === 'tool_call');
  const held = last < 0 ? also : also.slice(0, last + 1);
  if (held.length > 0)
    lines.push(`    also: ${held.map((each) => `${nameOf(each)} in ${time(each.inMs)}`).join(', ')}`);
  const once = onceText(progress);
  if (once !== undefined) lines.push(`    ${once}`);
  if (progress?.lastFailure !== undefined) {
    const { kind, message } = progress.lastFailure;
    lines.push(`    last attempt: ${kind}: ${sanitize(message)}`);
  }
  if (target !== undefined) {
    const probe = target.probeInMs === undefined ? '' : `, probe in ${time(target.probeInMs)}`;
    lines.push(
      `    ${sanitize(integration)} ${stateText(target.state, progress)}, circuit ${sanitize(target.circuit)}${probe}`,
    );
    if (target.restartInMs !== undefined)
      lines.push(
        `    ${sanitize(integration)} starts again ${target.restartInMs === 0 ? 'now' : `in ${time(target.restartInMs)}`}`,
      );
    const { pid, lastLine } = target.process ?? {};
    const process = pid === undefined ? 'its process' : `process ${pid}`;
    if (lastLine !== undefined) lines.push(`    ${process} said last: ${sanitize(lastLine)}`);
    else if (pid !== undefined) lines.push(`    ${process} runs`);
  }
  return lines;
}

/** Describes work in another program. Of times that are none in JSON, which are null, it says nothing. */
function layerText({ by, what, sinceMs, silentMs, limitInMs }: LayerWhy): string {
  const came = (ms: number): string =>
    ms < sinceMs ? `the model's content came ${time(ms)} ago` : 'no content of the model yet';
  const content = typeof silentMs === 'number' ? `, ${came(silentMs)}` : '';
  const limit = typeof limitInMs === 'number' ? `, limit in ${time(limitInMs)}` : '';
  return `${sanitize(by)}: ${sanitize(what)} for ${time(sinceMs)}${content}${limit}`;
}

const nameOf = ({ rule }: Pick<RuleWhy, 'rule'>): string => (rule === 'tool_call' ? watchdog : rule);

/** The rules of it are told apart by what they end. */
const watchdog = 'watchdog';

/** Tells whether a rule goes by this name, in the data or in the text that is shown. */
export function isNamed({ rule }: Pick<RuleWhy, 'rule'>, name: string): boolean {
  return rule === name || (name === watchdog && (rule === 'tool_call' || rule === 'turn'));
}

/** Tells whether the attempt in flight is the last one, should its answer be lost. */
function isOnce({ repeatAfter = 'lost', reconciles, maxAttempts, attempt }: CallWhy): boolean {
  return repeatAfter !== 'lost' && reconciles !== true && attempt < maxAttempts;
}

/** Why no further attempt follows a limit that passes. */
function onceText(progress: CallWhy | undefined): string | undefined {
  if (progress === undefined || progress.phase !== 'in_flight') return undefined;
  if (progress.reconciles === true) return 'where its answer is lost, its reconcile rule finds out whether it happened';
  if (!isOnce(progress)) return undefined;
  return progress.effect === 'mutating'
    ? 'it is not repeated, as it is mutating: only where it was refused does another attempt follow'
    : 'it is not repeated where a limit passes or its process dies, as nobody declared it readOnly or idempotent';
}

/** The machine is in `backoff` whatever its calls wait for. */
function stateText(state: string, progress: CallWhy | undefined): string {
  if (state !== 'backoff' || progress?.phase === 'backoff') return `is ${sanitize(state)}`;
  return progress?.phase === 'rate' ? 'holds its calls back for its rate limit' : 'has calls that wait';
}

const ofWhom = ({ rule, of }: CallRule): string => (of === undefined ? rule : `${rule} of ${sanitize(of)}`);

function phaseText(progress: CallWhy | undefined): string {
  if (progress === undefined) return 'is being written to the store';
  const { phase, attempt, maxAttempts, silentMs, next, rate, reconciling } = progress;
  // Most failures leave no room for another: a line below says so, and this one must not say otherwise.
  const isLast = phase === 'in_flight' && isOnce(progress);
  const attempts = isLast ? `attempt ${attempt}` : `attempt ${attempt} of ${maxAttempts}`;
  const does =
    next.rule === 'next_attempt' ? 'tried again' : next.rule === 'ping' ? 'its server is pinged' : ofWhom(next);
  const then = `${does} in ${time(next.inMs)}`;
  if (phase === 'in_flight') return `${attempts} in flight, silent for ${time(silentMs ?? 0)}; ${then}`;
  if (rate !== undefined) {
    const place = sanitize(rateWaitText(rate));
    return next.rule === 'rate_limit' ? place : `${place}; ${then}`;
  }
  if (reconciling !== undefined) return sanitize(reconcileText(reconciling, next.inMs));
  return `${waits[phase]}, ${attempt === 0 ? 'not tried yet' : `after ${attempts}`}; ${then}`;
}

/** Describes the wait of a call, in a few words. */
export function waitText(progress: CallWhy | undefined): string {
  if (progress === undefined) return 'being written to the store';
  const { phase, silentMs, lastFailure } = progress;
  const wait = phase === 'in_flight' ? `in flight, silent for ${time(silentMs ?? 0)}` : waits[phase];
  return lastFailure === undefined ? wait : `${wait}, after ${lastFailure.kind}: ${sanitize(lastFailure.message)}`;
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

/** Other facts that are known without a word of its gateway. */
interface Beside {
  readonly now: number;
  /** No gateway has it: nobody ends its calls before the next start. @defaultValue false */
  readonly isGone?: boolean | undefined;
  /** Policies that were in force, those seen last at the end. @defaultValue none */
  readonly policies?: readonly PolicyRow[] | undefined;
  /** @defaultValue no limit */
  readonly width?: number | undefined;
}

/** Describes a session by its records, as its gateway does not answer. */
export function recordsText(
  { session, messages, calls, deadLetters }: SessionRecords,
  { now, isGone = false, policies = [], width = Number.POSITIVE_INFINITY }: Beside,
): string {
  const lines = [`${sanitize(session)}, by its records:`];
  for (const { id, kind, state, deliveries, postedAt } of messages) {
    const begun = deliveries === 0 ? '' : `, begun ${counted(deliveries, 'time')}`;
    lines.push(
      `  message ${sanitize(id)} (${sanitize(kind)}) is ${state}${begun}, accepted ${ago(postedAt, now)}${isGone ? nextStartText(deliveries) : ''}`,
    );
  }
  for (const { call, integration, tool, startedAt, deadlineAt, rule } of calls) {
    const due = deadlineAt > now ? `due in ${time(deadlineAt - now)}` : `overdue for ${time(now - deadlineAt)}`;
    const end = !isGone
      ? `${firstLimit(integration, policies, deadlineAt - startedAt)}, ${due} by the watchdog`
      : rule === undefined
        ? '; the next start answers it as unknown: it may have taken effect'
        : '; the next start asks its reconcile rule whether it happened';
    lines.push(
      `  call ${sanitize(call)}: ${sanitize(integration)} ${sanitize(tool)} pending, started ${ago(startedAt, now)}${end}`,
      ...limitLines(integration, policies),
    );
  }
  for (const { id, reason } of deadLetters) lines.push(`  message ${sanitize(id)} is a dead letter: ${reason}`);
  if (lines.length === 1) lines.push('  nothing waits and nothing is pending');
  return wrapLines(lines, width);
}

/** Tells the fate of a message. The number of starts that its session gives it is not on record. */
function nextStartText(deliveries: number): string {
  if (deliveries === 0) return '; the next start delivers it';
  if (deliveries < defaultMaxDeliveries) return '; the next start delivers it again';
  return `; the next start makes it a dead letter, unless \`recovery.maxDeliveries\` is above ${deliveries} (${defaultMaxDeliveries} by default)`;
}

/** Names the place of a session, of a store of several machines. */
export function ownerText(
  session: string,
  { name, host, pid, fence, sinceMs, leaseLeftMs }: SessionOwner,
  width = Number.POSITIVE_INFINITY,
): string {
  const who = `${sanitize(name)} (pid ${pid} on ${sanitize(host)})`;
  const lease = `its lease holds for ${time(leaseLeftMs)} more and is renewed, fence ${fence}`;
  return wrapLines([`${who} has ${sanitize(session)} for ${time(sinceMs)}: ${lease}.`], width);
}

/** The limit of its integration that acts before the watchdog: no record tells of attempts, so when it acts is not known. */
function firstLimit(integration: string, policies: readonly PolicyRow[], watchdogMs: number): string {
  const [first] = limitsOf(integration, policies).toSorted(([, one], [, other]) => one - other);
  if (first === undefined || first[1] >= watchdogMs) return '';
  const [name, ms] = first;
  return `, ${name === 'overall' ? 'it' : 'its attempt'} ends first by the ${name} limit of ${time(ms)}`;
}

/** The limits of an integration, as they were last in force. */
function limitLines(integration: string, policies: readonly PolicyRow[]): readonly string[] {
  const limits = limitsOf(integration, policies).map(([name, ms]) => `${name} limit ${time(ms)}`);
  return limits.length === 0 ? [] : [`    the policy of ${sanitize(integration)}: ${limits.join(', ')}`];
}

function limitsOf(integration: string, policies: readonly PolicyRow[]): readonly (readonly [string, number])[] {
  const kept = policies.findLast((row) => row.name === integration && row.kept.of === 'integration')?.kept;
  if (kept?.of !== 'integration') return [];
  const { idleMs, attemptMs, overallMs } = kept.policy.limits;
  return Object.entries({ idle: idleMs, attempt: attemptMs, overall: overallMs }).filter(([, ms]) =>
    Number.isFinite(ms),
  );
}

/** `1st`, `2nd`, `3rd`, `11th`. */
function ordinal(count: number): string {
  const isTeen = Math.floor(count / 10) % 10 === 1;
  return `${count}${(isTeen ? undefined : ['th', 'st', 'nd', 'rd'][count % 10]) ?? 'th'}`;
}

const time = (ms: number): string => formatDuration(Math.max(0, ms));
