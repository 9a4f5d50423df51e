import type { HistoryEntry } from '../sessions/history.ts';
import type { Message } from '../sessions/mailbox.ts';
import {
  type AsideReason,
  maxKeys,
  type Past,
  type Recovered,
  type RecoveryLimits,
  type WaitingMessage,
} from '../sessions/sessionStore.ts';
import type { ToolResult } from '../sessions/toolResult.ts';
import type { Database, SqlRow } from './database.ts';
import { fromJson } from './json.ts';

/** What nobody needs before a session goes on, for the runtime that has claimed it. */
export function selectPast(database: Database, session: string, historyLimit: number): Past {
  const last = database
    .prepare(
      `SELECT (SELECT max(number) FROM unwedge_messages WHERE session = ?1) AS message,
              max(coalesce((SELECT max(turn) FROM unwedge_messages WHERE session = ?1), 0),
                  coalesce((SELECT max(turn) FROM unwedge_calls WHERE session = ?1), 0)) AS turn,
              max(coalesce((SELECT max(seq) FROM unwedge_messages WHERE session = ?1), 0),
                  coalesce((SELECT max(max(seq), coalesce(max(result_seq), 0)) FROM unwedge_calls WHERE session = ?1), 0)) AS seq`.replaceAll(
        '?1',
        '?',
      ),
    )
    .get(session, session, session, session, session);
  const keys = database
    .prepare(
      'SELECT key, number FROM unwedge_messages WHERE session = ? AND key IS NOT NULL ORDER BY number DESC LIMIT ?',
    )
    .all(session, maxKeys)
    .reverse();
  return {
    history: history(database, session, historyLimit),
    keys: keys.map((row) => [String(row['key']), Number(row['number'])] as const),
    lastMessage: Number(last?.['message'] ?? 0),
    lastTurn: Number(last?.['turn'] ?? 0),
    lastSeq: Number(last?.['seq'] ?? 0),
  };
}

export interface Unprocessed {
  readonly recovered: Pick<Recovered, 'waiting' | 'aside'>;
  /** Of messages that wait, by number: the deliveries that an orderly stop ended. */
  readonly stops: ReadonlyMap<number, number>;
}

/** The messages that wait, for the runtime that is claiming the session; what cannot be delivered is put aside for good. */
export function selectUnprocessed(
  database: Database,
  session: string,
  { maxDeliveries, maxAgeMs, wallNow }: RecoveryLimits,
): Unprocessed {
  const waiting: WaitingMessage[] = [];
  const stops = new Map<number, number>();
  const aside: { number: number; reason: AsideReason }[] = [];
  const rows = database
    .prepare(`SELECT * FROM unwedge_messages WHERE session = ? AND state IN ('waiting', 'taken') ORDER BY number`)
    .all(session);
  for (const row of rows) {
    const number = Number(row['number']);
    const message = messageOf(row);
    const deliveries = Number(row['deliveries']);
    const at = Number(row['posted_at']);
    const reason: AsideReason | undefined =
      message === undefined
        ? 'malformed'
        : deliveries - Number(row['stops']) >= maxDeliveries
          ? 'poison'
          : wallNow - at > maxAgeMs
            ? 'expired'
            : undefined;
    if (message !== undefined && reason === undefined) {
      const key = typeof row['key'] === 'string' ? row['key'] : undefined;
      waiting.push({ number, message, key, at, deliveries });
      if (row['stops'] !== 0) stops.set(number, Number(row['stops']));
      continue;
    }
    aside.push({ number, reason: reason ?? 'malformed' });
    database
      .prepare(`UPDATE unwedge_messages SET state = ?, ended_at = CAST(? AS INTEGER) WHERE session = ? AND number = ?`)
      .run(reason ?? 'malformed', Math.round(wallNow), session, number);
  }
  return { recovered: { waiting, aside }, stops };
}

/** Calls without a result are those of a runtime that lives; there are none in a session that was just claimed. */
function history(database: Database, session: string, limit: number): readonly HistoryEntry[] {
  const calls = database
    .prepare(`SELECT * FROM unwedge_calls WHERE session = ? AND state = 'settled' ORDER BY seq DESC LIMIT ?`)
    .all(session, Math.ceil(limit / 2));
  const messages = database
    .prepare('SELECT * FROM unwedge_messages WHERE session = ? AND seq IS NOT NULL ORDER BY seq DESC LIMIT ?')
    .all(session, limit);
  const placed: (readonly [seq: number, entry: HistoryEntry])[] = [];
  for (const row of messages) {
    const message = messageOf(row);
    if (message === undefined) continue;
    const [turn, at, id] = [Number(row['turn']), Number(row['taken_at']), `${session}-m${Number(row['number'])}`];
    placed.push([Number(row['seq']), { type: 'message', turn, id, message, at }]);
  }
  for (const row of calls) placed.push(...callEntries(row));
  const entries = placed.sort(([a], [b]) => a - b).map(([, entry]) => entry);
  return whole(entries, limit);
}

/** The latest turns that fit, each whole: a cut within one could part a call from its result. */
function whole(entries: readonly HistoryEntry[], limit: number): HistoryEntry[] {
  const cut = entries[entries.length - limit - 1]?.turn;
  if (cut === undefined) return [...entries];
  return entries.slice(entries.findLastIndex(({ turn }) => turn === cut) + 1);
}

function callEntries(row: SqlRow): (readonly [number, HistoryEntry])[] {
  const result = fromJson(row['result']);
  // A result that cannot be read leaves its call out too: a history has both or neither.
  if (result === undefined) return [];
  const [turn, call] = [Number(row['turn']), String(row['id'])];
  const [integration, tool] = [String(row['integration']), String(row['tool'])];
  const input = fromJson(row['input'])?.value;
  const opened: HistoryEntry = {
    type: 'tool_call',
    turn,
    call,
    integration,
    tool,
    input,
    at: Number(row['started_at']),
  };
  const answered: HistoryEntry = {
    type: 'tool_result',
    turn,
    call,
    result: result.value as ToolResult,
    at: Number(row['settled_at']),
  };
  return [
    [Number(row['seq']), opened],
    [Number(row['result_seq']), answered],
  ];
}

function messageOf(row: SqlRow): Message | undefined {
  const body = fromJson(row['body'])?.value;
  if (typeof body !== 'object' || body === null || !('kind' in body) || typeof body.kind !== 'string') return undefined;
  return body as Message;
}
