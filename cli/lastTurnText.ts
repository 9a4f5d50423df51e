import { formatDuration } from '../src/policy/text/face.ts';
import type { EventRow } from '../src/store/face.ts';
import type { CallRecord, StoreReader, TurnRecord } from '../reader/storeReader.ts';
import { sanitize } from './sanitize.ts';
import { ago, counted, localTime, wrapLines } from './text.ts';

/** The last turn of a session that is on record, with what is known of failures in it and of failed turns before it. */
export interface LastTurn {
  readonly turn: TurnRecord;
  readonly failures: readonly EventRow[];
  /** Earlier turns that failed, the newest first. */
  readonly failedBefore: readonly TurnRecord[];
}

/** Failures of a session that are read, the newest. */
const mostFailures = 100;
/** Calls, and earlier turns, that are told. */
const mostTold = 5;
/** Turns that are looked at for failed ones. */
const mostLooked = 50;
const dayMs = 24 * 60 * 60_000;

/** @param recorded - the id of the session as events have it. */
export async function lastTurnOf(
  reader: Pick<StoreReader, 'turns' | 'events'>,
  session: string,
  recorded: string,
): Promise<LastTurn | undefined> {
  const [turn, ...before] = await reader.turns(session, mostLooked);
  if (turn === undefined) return undefined;
  const failedBefore = before.filter(({ error }) => error !== undefined);
  const hasFailed = [turn, ...failedBefore].some(
    ({ error, calls }) => error !== undefined || failedOf(calls).length > 0,
  );
  const query = { category: 'session', session: recorded, failed: true, limit: mostFailures };
  return { turn, failures: hasFailed ? await reader.events(query) : [], failedBefore };
}

/** Describes the failures in the last turns of a session that does nothing now; empty where there are none. */
export function lastTurnText(last: LastTurn, now: number, width: number): string {
  const { turn, failures, failedBefore } = last;
  if (turn.endedAt === undefined) return '';
  const recent = failedBefore.filter(({ endedAt = 0 }) => endedAt > now - dayMs);
  if (turn.error === undefined && recent.length === 0 && failedOf(turn.calls).length === 0) return '';
  const before = recent.slice(0, mostTold).map((each) => `    ${messageText(each, failures, now)}`);
  const count = `${counted(recent.length, 'earlier turn')} of the last 24h failed`;
  const told = recent.length > before.length ? `${count}, the last ${before.length}:` : `${count}:`;
  return wrapLines([...turnLines(turn, failures, now), ...(before.length > 0 ? [`  ${told}`, ...before] : [])], width);
}

/** The failed turns and repetitions of the last day, of a session of which events alone are on record, the newest first: the newest few. */
export async function failedTurnsOf(
  reader: Pick<StoreReader, 'events'>,
  recorded: string,
  now: number,
): Promise<readonly EventRow[]> {
  const query = { category: 'session', session: recorded, limit: mostFailures, since: now - dayMs };
  const found = [await reader.events({ ...query, failed: true }), await reader.events({ ...query, text: 'spinning' })];
  return found
    .flatMap((events, index) => events.filter(({ type }) => type === ['turn_failed', 'spinning'][index]))
    .sort((one, other) => other.id - one.id)
    .slice(0, mostTold);
}

/** Describes failed turns of which events alone are on record. */
export function failedTurnsText(session: string, failed: readonly EventRow[], now: number, width: number): string {
  const lines = failed.map(({ at, type, metadata: { message, kind, error, step, answer } }) => {
    if (type === 'spinning')
      return `  spinning (${sanitize(String(step))}), ${ago(at, now)}: ${sanitize(String(message))}: ${sanitize(String(answer))}`;
    const cause = `${sanitize(String(kind))}: ${sanitize(String(error))}`;
    return `  ${sanitize(String(message))} failed ${ago(at, now)}: ${cause}`;
  });
  return wrapLines([`Of ${sanitize(session)} only events are on record:`, ...lines], width);
}

function turnLines(turn: TurnRecord, failures: readonly EventRow[], now: number): readonly string[] {
  const { calls, endedAt = now, takenAt = endedAt, error } = turn;
  const failed = failedOf(calls);
  const told = failed.slice(-mostTold);
  const left = failed.length > told.length ? `, the last ${told.length}` : '';
  const head = failed.length === 0 ? '' : `; of its ${counted(calls.length, 'call')} ${failed.length} failed${left}:`;
  const callLines = told.map((call) => `    ${callText(call, failures)}`);
  if (error === undefined) return [`  its last turn ended well ${ago(endedAt, now)}${head}`, ...callLines];
  const lasted = `after ${formatDuration(Math.max(0, endedAt - takenAt))}`;
  return [
    `  its last turn failed ${ago(endedAt, now)}, ${lasted}: ${causeText(turn, failures)}${head}`,
    ...callLines,
    `    it processed ${sanitize(turn.message)} (${sanitize(turn.kind)}), accepted ${localTime(turn.postedAt)}${againText(turn, failures)}`,
  ];
}

/** The message of a failed turn, with what failed. */
function messageText(turn: TurnRecord, failures: readonly EventRow[], now: number): string {
  const { message, kind, endedAt = now } = turn;
  return `${sanitize(message)} (${sanitize(kind)}) ${ago(endedAt, now)}: ${causeText(turn, failures)}`;
}

/** The kind of failure is in the event alone. */
function causeText({ turn, error = '' }: TurnRecord, failures: readonly EventRow[]): string {
  const event = failures.findLast(({ type, metadata }) => type === 'turn_failed' && metadata['turn'] === turn);
  const kind = event?.metadata['kind'];
  return `${typeof kind === 'string' ? `${sanitize(kind)}: ` : ''}${sanitize(error)}`;
}

/** Says that a failed message is over, and what its sender repeats who sends it again. */
function againText({ state, calls }: TurnRecord, failures: readonly EventRow[]): string {
  if (state !== 'failed') return '';
  const repeated = calls.filter((call) => call.ok !== false || !isWithoutEffect(eventOf(call, failures)));
  const names = [...new Set(repeated.map(({ integration, tool }) => `${integration} ${tool}`))].map(sanitize);
  const more = names.length > mostTold ? ` and ${names.length - mostTold} more` : '';
  const over = '; it is not delivered again. Its sender may send it as a new message';
  if (calls.length === 0) return `${over}: it made no tool call`;
  if (names.length === 0) return `${over}: none of its calls took effect`;
  return `${over} where repeating these calls does no harm, which may have taken effect: ${names.slice(0, mostTold).join(', ')}${more}`;
}

function isWithoutEffect(event: EventRow | undefined): boolean {
  const { outcome, effect } = event?.metadata ?? {};
  return outcome === 'failed' || outcome === 'not_started' || outcome === 'not_done' || effect === 'readOnly';
}

function callText(call: CallRecord, failures: readonly EventRow[]): string {
  const { integration, tool, startedAt, settledAt } = call;
  const event = eventOf(call, failures);
  const lasted = settledAt === undefined ? '' : `, after ${formatDuration(Math.max(0, settledAt - startedAt))}`;
  const { kind, error: said } = event?.metadata ?? {};
  const why = event === undefined ? '' : `: ${sanitize(String(kind))}: ${sanitize(String(said))}`;
  return `${sanitize(integration)} ${sanitize(tool)} (${sanitize(call.call)}) failed${lasted}${why}`;
}

function eventOf({ call }: CallRecord, failures: readonly EventRow[]): EventRow | undefined {
  return failures.findLast(({ type, metadata }) => type === 'tool_failed' && metadata['call'] === call);
}

function failedOf(calls: readonly CallRecord[]): readonly CallRecord[] {
  return calls.filter(({ ok }) => ok === false);
}
