import { effects } from '../policy/effects.ts';
import type { HistoryEntry } from '../sessions/history.ts';
import { type Message, messageId, type MessageName } from '../sessions/mailbox.ts';
import type {
  DeadLetterReason,
  KeptCallRow,
  LostCall,
  Past,
  Recovered,
  RecoveryLimits,
  StoredVerdict,
  WaitingMessage,
} from '../sessions/sessionStore.ts';
import type { SyntheticToolError, ToolResult } from '../sessions/toolResult.ts';
import type { Row } from './dialect.ts';
import { fromJson } from '../policy/text/storedJson.ts';

/** SQL for the messages that are dead letters, neither sent again nor dropped. */
export const isDeadLetter = `state IN ('poison', 'expired', 'malformed')`;

/** SQL for why a message is one: one that waited when its session was closed has expired, and says so as its error. A server of before knows no other state. */
export const letterWhy = `CASE WHEN state = 'expired' AND error IS NOT NULL THEN 'closed' ELSE state END AS state`;

/** A message as an engine has it. Times are wall time in ms since the epoch. */
export interface MessageRow extends MessageName {
  /** JSON; a damaged store may hold other text. */
  readonly body: string;
  readonly key: string | undefined;
  readonly deliveries: number;
  /** The deliveries that an orderly stop ended: they do not speak against the message. */
  readonly stops: number;
  readonly at: number;
  /** Record of its last delivery; absent before. */
  readonly taken: { readonly turn: number; readonly seq: number; readonly at: number } | undefined;
}

/** A tool call as an engine has it. Times are wall time in ms since the epoch. */
export interface CallRow extends Omit<LostCall, 'effect' | 'input' | 'rule'> {
  /** As it was written; one that this version does not know says nothing. */
  readonly effect: unknown;
  readonly rule: unknown;
  /** JSON. */
  readonly input: string;
  readonly seq: number;
  /** Absent while it is pending. */
  readonly settled: { readonly result: string; readonly seq: number; readonly at: number } | undefined;
  /** A second result, which came after that. */
  readonly late: { readonly result: string; readonly at: number } | undefined;
  /** JSON, where something was found out about it. */
  readonly verdict: string | undefined;
}

/** The messages without an end of a session that is claimed. */
export interface Unprocessed {
  readonly recovered: Pick<Recovered, 'waiting' | 'deadLetters'>;
  /** Deliveries that an orderly stop ended, of messages that wait, by number. */
  readonly stops: ReadonlyMap<number, number>;
}

/** Says of messages without an end, in order, which are delivered and which are dead letters. */
export function judgeUnprocessed(rows: readonly MessageRow[], limits: RecoveryLimits): Unprocessed {
  const waiting: WaitingMessage[] = [];
  const stops = new Map<number, number>();
  const deadLetters: (MessageName & { reason: DeadLetterReason })[] = [];
  for (const row of rows) {
    const { number, mail, key, at, deliveries } = row;
    const name = mail === undefined ? { number } : { number, mail };
    const message = messageIn(row.body);
    const reason = message === undefined ? 'malformed' : deadLetterReason(row, limits);
    if (message === undefined || reason !== undefined) {
      deadLetters.push({ ...name, reason: reason ?? 'malformed' });
      continue;
    }
    waiting.push({ ...name, message, key, at, deliveries });
    if (row.stops > 0) stops.set(number, row.stops);
  }
  return { recovered: { waiting, deadLetters }, stops };
}

function deadLetterReason(
  { deliveries, stops, at }: MessageRow,
  { maxDeliveries, maxAgeMs, wallNow }: RecoveryLimits,
): DeadLetterReason | undefined {
  if (deliveries - stops >= maxDeliveries) return 'poison';
  return wallNow - at > maxAgeMs ? 'expired' : undefined;
}

/** A pending call whose runtime died. */
export function lostCall({
  session,
  call,
  turn,
  integration,
  tool,
  startedAt,
  idempotencyKey,
  ...row
}: Omit<CallRow, 'late' | 'settled' | 'verdict'>): LostCall {
  const effect = effects.find((known) => known === row.effect);
  const rule = row.rule === 'ask' || row.rule === 'key' ? row.rule : undefined;
  const input = fromJson(row.input)?.value;
  return { session, call, turn, integration, tool, effect, startedAt, input, rule, idempotencyKey };
}

/**
 * The latest whole turns of a session: messages that were taken, and settled calls with their results.
 * @param messages - that were taken, the latest `limit` at least.
 * @param calls - that are settled, the latest half as many at least.
 * @param limit - most entries.
 */
export function historyOf(
  session: string,
  messages: readonly MessageRow[],
  calls: readonly CallRow[],
  limit: number,
): readonly HistoryEntry[] {
  const placed: (readonly [seq: number, entry: HistoryEntry])[] = [];
  for (const { body, taken, ...name } of messages) {
    const message = messageIn(body);
    if (message === undefined || taken === undefined) continue;
    const { turn, seq, at } = taken;
    placed.push([seq, { type: 'message', turn, id: messageId(session, name), message, at }]);
  }
  for (const row of calls) placed.push(...callEntries(row));
  return wholeTurns(
    placed.sort(([a], [b]) => a - b).map(([, entry]) => entry),
    limit,
  );
}

/** The latest turns that fit, each whole: a cut within one could part a call from its result. What was answered late stands behind later turns. */
function wholeTurns(entries: readonly HistoryEntry[], limit: number): readonly HistoryEntry[] {
  const sizes = new Map<number, number>();
  for (const { turn } of entries) sizes.set(turn, (sizes.get(turn) ?? 0) + 1);
  let room = limit;
  let oldest = Number.POSITIVE_INFINITY;
  for (const [turn, size] of [...sizes].sort(([a], [b]) => b - a)) {
    room -= size;
    if (room < 0) break;
    oldest = turn;
  }
  return entries.filter(({ turn }) => turn >= oldest);
}

/** A call and its result, each with its place in the history; neither where one cannot be read. */
export function callEntries(row: CallRow): readonly (readonly [number, HistoryEntry])[] {
  const { call, turn, integration, tool, seq, startedAt, settled } = row;
  const result = fromJson(settled?.result);
  // A result that cannot be read leaves its call out too: a history has both or neither.
  if (settled === undefined || result === undefined) return [];
  const input = fromJson(row.input)?.value;
  return [
    [seq, { type: 'tool_call', turn, call, integration, tool, input, at: startedAt }],
    // A late result settled it after its turn: it has no place of its own, and stands right behind its call.
    [
      Math.max(settled.seq, seq),
      { type: 'tool_result', turn, call, result: result.value as ToolResult, at: settled.at },
    ],
  ];
}

/** A store that was lost with what was not read of it: numbers above all that can have been in it. */
export function pastUnread(wallNow: number): Past {
  const number = Math.floor(wallNow / 1000);
  return { history: [], keys: [], lastMessage: number, lastTurn: number, lastSeq: 0 };
}

/** The message in JSON; undefined where that is none. */
export function messageIn(text: string): Message | undefined {
  const body = fromJson(text)?.value;
  if (typeof body !== 'object' || body === null || !('kind' in body) || typeof body.kind !== 'string') return undefined;
  return body as Message;
}

/** The message in a row. */
export function toMessageRow(row: Row): MessageRow {
  const { seq, key } = row;
  return {
    ...nameOf(row),
    body: String(row['body']),
    key: typeof key === 'string' ? key : undefined,
    deliveries: Number(row['deliveries']),
    stops: Number(row['stops']),
    at: Number(row['posted_at']),
    taken: seq === null ? undefined : { turn: Number(row['turn']), seq: Number(seq), at: Number(row['taken_at']) },
  };
}

/** Names the message of a row. */
export function nameOf(row: Row): MessageName {
  const mail = mailOf(row);
  return mail === undefined ? { number: Number(row['number']) } : { number: Number(row['number']), mail };
}

function mailOf({ mail }: Row): number | undefined {
  return mail === null || mail === undefined ? undefined : Number(mail);
}

/** The call in a row. */
export function toCallRow(row: Row): CallRow {
  const { idempotency_key: idempotencyKey } = row;
  return {
    session: String(row['session']),
    call: String(row['id']),
    turn: Number(row['turn']),
    integration: String(row['integration']),
    tool: String(row['tool']),
    input: String(row['input']),
    effect: row['effect'],
    rule: row['rule'],
    idempotencyKey: typeof idempotencyKey === 'string' ? idempotencyKey : undefined,
    seq: Number(row['seq']),
    startedAt: Number(row['started_at']),
    settled:
      row['state'] === 'settled'
        ? { result: String(row['result']), seq: Number(row['result_seq']), at: Number(row['settled_at']) }
        : undefined,
    late:
      typeof row['late_result'] === 'string' ? { result: row['late_result'], at: Number(row['late_at']) } : undefined,
    verdict: typeof row['verdict'] === 'string' ? row['verdict'] : undefined,
  };
}

/** The calls that are kept, of these: a limit ended each, and no equal call was given what became of it. One that had joined another had no work of its own. */
export function keptOf(rows: readonly CallRow[]): readonly KeptCallRow[] {
  return rows.flatMap((row): readonly KeptCallRow[] => {
    const { keptUntil: until, joined } = (fromJson(row.settled?.result)?.value ?? {}) as Partial<SyntheticToolError>;
    const found = fromJson(row.verdict)?.value as Partial<StoredVerdict> | undefined;
    if (typeof until !== 'number' || joined === true || found?.given === true) return [];
    const result = fromJson(row.late?.result)?.value as ToolResult | undefined;
    return [{ ...lostCall(row), until, late: row.late && result && { result, at: row.late.at } }];
  });
}
