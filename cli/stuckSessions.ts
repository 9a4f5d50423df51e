import { formatDuration } from '../src/policy/text/face.ts';
import type { AskedSession } from '../operator/askRuntimes.ts';
import { waitsForBudget } from '../operator/needs.ts';
import type { SessionWhy, ToolCallWhy } from '../src/sessions/face.ts';
import type { SessionRecords, StoreReader } from '../reader/storeReader.ts';
import { ago, counted } from './text.ts';
import { sanitize } from './sanitize.ts';
import { ruleText, stepText, waitText } from './whyText.ts';

/** A session that waits for something, in words. */
export interface StuckSession {
  readonly session: string;
  readonly what: string;
}

/** Sessions on record that are looked at, of those that wait. */
const mostLooked = 200;
/** A turn without a call that takes longer is worth a line, in ms. */
const longTurnMs = 60_000;
/** The same of a turn that messages wait behind. */
const queuedTurnMs = 30_000;
/** The same of a call that shows no sign of life. */
const longSilenceMs = 10_000;

/** Text that a live session is told as; undefined where it is not told. */
export type TextOfWhy = (why: SessionWhy) => string | undefined;

/** The sessions that are stuck, or ask a person, of those that were asked. */
export function stuckAmong(asked: readonly AskedSession[], textOf: TextOfWhy = stuckText): readonly StuckSession[] {
  return asked.flatMap(({ session, why, problem }) => {
    const what = why === undefined ? `is busy; its gateway does not say with what: ${problem}` : textOf(why);
    return what === undefined ? [] : [{ session, what }];
  });
}

/** Describes what a session is stuck on, for how long, and what ends that; undefined where it is at work. */
export function stuckText(why: SessionWhy): string | undefined {
  const { turn, questions, calls, waiting, next, stopping, ended, spinning, recovering = [] } = why;
  if (recovering.length > 0)
    return `finds out what became of ${counted(recovering.length, 'call')} of an earlier process (${waitText(recovering[0]?.progress)})`;
  if (turn === undefined && questions.length === 0) return undefined;
  const isCut = stopping !== undefined && stopping.inMs <= (next?.inMs ?? Number.POSITIVE_INFINITY);
  const rule = next === undefined ? '' : `; ${ruleText(next)} in ${seconds(next.inMs)}`;
  const end = isCut ? `; the gateway stops, and cuts it in ${seconds(stopping.inMs)}` : rule;
  const [question] = questions;
  if (question !== undefined)
    return `asks a person for ${seconds(question.sinceMs)}: ${sanitize(question.what)}${isCut ? end : givenUpIn(question)}`;
  if (turn === undefined) return undefined;
  const unpaid = waitsForBudget(why)?.waitsFor;
  if (unpaid !== undefined) return sanitize(unpaid);
  if (spinning !== undefined) return `spins: ${sanitize(spinning.message)}${stepText(spinning)}${end}`;
  const slow = calls.filter(isInTrouble);
  const [first] = slow;
  if (first !== undefined) {
    const more = slow.length > 1 ? ` and ${slow.length - 1} more` : '';
    const name = `${sanitize(first.integration)} ${sanitize(first.tool)}`;
    return `waits for ${name}${more} for ${seconds(first.sinceMs)} (${waitText(first.progress)})${end}`;
  }
  if (waiting > 0 && turn.sinceMs >= queuedTurnMs) {
    const on =
      calls[0] === undefined
        ? ` without a call${refusedText(ended)}`
        : ` on ${sanitize(calls[0].integration)} ${sanitize(calls[0].tool)}`;
    return `is at work for ${seconds(turn.sinceMs)}${on}, while ${counted(waiting, 'message waits', 'messages wait')}${end}`;
  }
  return calls.length > 0 || turn.sinceMs < longTurnMs
    ? undefined
    : `is at work for ${seconds(turn.sinceMs)} without a call${refusedText(ended)}${end}`;
}

/** The circuit that refused its last call: a handler may wait for that. */
function refusedText(ended: SessionWhy['ended']): string {
  const last = ended?.at(-1);
  if (last?.failure?.kind !== 'circuit_open') return '';
  return `, after the circuit of ${sanitize(last.integration)} refused ${sanitize(last.tool)}`;
}

/** The same also of a session that is at work as it should be. */
export function busyText(why: SessionWhy): string | undefined {
  const stuck = stuckText(why);
  const { turn, calls, next } = why;
  if (stuck !== undefined || turn === undefined) return stuck;
  const [call] = calls;
  const rule = next === undefined ? '' : `; ${ruleText(next)} in ${seconds(next.inMs)}`;
  if (call === undefined)
    return `is at work for ${seconds(turn.sinceMs)} without a call${refusedText(why.ended)}${rule}`;
  const more = calls.length > 1 ? ` and ${calls.length - 1} more` : '';
  return `waits for ${sanitize(call.integration)} ${sanitize(call.tool)}${more} for ${seconds(call.sinceMs)}${rule}`;
}

function isInTrouble({ progress }: ToolCallWhy): boolean {
  if (progress === undefined) return false;
  return progress.phase !== 'in_flight' || progress.attempt > 1 || (progress.silentMs ?? 0) >= longSilenceMs;
}

/** Time in ms for which it is told that what is no session of a gateway repeats itself: a client of a proxy, an agent. */
const spunMs = 10 * 60_000;

/** Clients and agents that were told to spin of late, each with the last that was said of it. */
export async function recentSpinners(
  reader: Pick<StoreReader, 'events'>,
  now: number,
): Promise<readonly StuckSession[]> {
  const events = await reader.events({ category: 'session', text: 'spinning', since: now - spunMs, limit: mostLooked });
  const told = events.filter(({ type, metadata }) => type === 'spinning' && metadata['turn'] === undefined);
  const last = new Map(told.map(({ at, metadata }) => [String(metadata['session']), { at, metadata }]));
  return [...last].map(([session, { at, metadata }]) => ({
    session,
    what: `spins: ${sanitize(String(metadata['message']))} (${sanitize(String(metadata['step']))}, ${ago(at, now)})`,
  }));
}

/** Sessions on record of which something waits. */
interface RecordedSessions {
  readonly records: readonly SessionRecords[];
  /** Ids of those that were not looked at: there are too many. */
  readonly others: readonly string[];
}

/** The sessions whose records say that something waits, for where no live runtime says more. */
export async function recordedSessions(
  reader: Pick<StoreReader, 'waitingSessions' | 'session'>,
): Promise<RecordedSessions> {
  const ids = await reader.waitingSessions();
  const records = await Promise.all(ids.slice(0, mostLooked).map((id) => reader.session(id)));
  return { records: records.filter((each) => each !== undefined), others: ids.slice(mostLooked) };
}

/** Describes the waiting records of a session. */
export function recordedText({ calls, messages }: SessionRecords, now: number): string {
  const [call] = calls;
  const waiting = messages.filter(({ state }) => state === 'waiting').length;
  const begun = messages.length - waiting;
  const parts = [
    ...(call === undefined
      ? []
      : [
          `${counted(calls.length, 'call')} without a result (${sanitize(call.integration)} ${sanitize(call.tool)}, for ${seconds(now - call.startedAt)})`,
        ]),
    ...(begun === 0 ? [] : [`${counted(begun, 'message')} begun`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, 'message')} waiting`]),
  ];
  return `has on record ${parts.join(', ')}`;
}

const seconds = (ms: number): string => formatDuration(Math.max(0, Math.floor(ms / 1000) * 1000));

const givenUpIn = ({ deadlineInMs }: SessionWhy['questions'][number]): string =>
  deadlineInMs === undefined ? '' : `; given up in ${seconds(deadlineInMs)}`;
