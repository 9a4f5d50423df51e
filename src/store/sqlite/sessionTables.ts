import type { HistoryEntry } from '../../sessions/history.ts';
import {
  maxKeys,
  type LostCall,
  type Past,
  type RecoveryLimits,
  type StoredCall,
  type StoredVerdict,
} from '../../sessions/sessionStore.ts';
import { toJson } from '../../policy/storedJson.ts';
import { historyOf, judgeUnprocessed, lostCall, toCallRow, toMessageRow, type Unprocessed } from '../sessionRows.ts';
import type { Database, SqlRow } from './database.ts';

/** Reads what nobody needs before a session goes on, for the runtime that has claimed it. */
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
    history: selectHistory(database, session, historyLimit),
    keys: keys.map((row) => [String(row['key']), Number(row['number'])] as const),
    lastMessage: Number(last?.['message'] ?? 0),
    lastTurn: Number(last?.['turn'] ?? 0),
    lastSeq: Number(last?.['seq'] ?? 0),
  };
}

/** The latest whole turns. @param limit - most entries. */
function selectHistory(database: Database, session: string, limit: number): readonly HistoryEntry[] {
  const calls = database
    .prepare(`SELECT * FROM unwedge_calls WHERE session = ? AND state = 'settled' ORDER BY seq DESC LIMIT ?`)
    .all(session, Math.ceil(limit / 2));
  const messages = database
    .prepare('SELECT * FROM unwedge_messages WHERE session = ? AND seq IS NOT NULL ORDER BY seq DESC LIMIT ?')
    .all(session, limit);
  return historyOf(session, messages.map(toMessageRow), calls.map(toCallRow), limit);
}

/** The messages that wait, for the runtime that is claiming the session; what cannot be delivered becomes a dead letter. */
export function takeUnprocessed(database: Database, session: string, limits: RecoveryLimits): Unprocessed {
  const rows = database
    .prepare(`SELECT * FROM unwedge_messages WHERE session = ? AND state IN ('waiting', 'taken') ORDER BY number`)
    .all(session)
    .map(toMessageRow);
  const judged = judgeUnprocessed(rows, limits);
  const endAsDeadLetter = `UPDATE unwedge_messages SET state = ?, ended_at = CAST(? AS INTEGER) WHERE session = ? AND number = ?`;
  for (const { number, reason } of judged.recovered.deadLetters) {
    database.prepare(endAsDeadLetter).run(reason, Math.round(limits.wallNow), session, number);
  }
  return judged;
}

/** Answers a pending call of a session that is claimed, or of a dead runtime: the state of the row alone decides. */
export function settleLost(
  database: Database,
  row: SqlRow,
  { wallNow, answer }: Pick<RecoveryLimits, 'wallNow' | 'answer'>,
): LostCall {
  const call = lostCall(toCallRow(row));
  database
    .prepare(
      `UPDATE unwedge_calls SET state = 'settled', result = ?, settled_at = CAST(? AS INTEGER),
         result_seq = (SELECT max(max(seq), coalesce(max(result_seq), 0)) + 1 FROM unwedge_calls WHERE session = ?)
       WHERE id = ? AND state = 'pending'`,
    )
    .run(toJson(answer(call)), Math.round(wallNow), call.session, call.call);
  return call;
}

/** Writes what is noted of the question about a call; a call that is settled keeps it too. */
export function noteVerdict(database: Database, call: string, found: StoredVerdict | undefined, at: number): number {
  return found === undefined
    ? database
        .prepare('UPDATE unwedge_calls SET reconciling_at = CAST(? AS INTEGER) WHERE id = ?')
        .run(Math.round(at), call)
    : database
        .prepare('UPDATE unwedge_calls SET verdict = ?, reconciled_at = CAST(? AS INTEGER) WHERE id = ?')
        .run(toJson(found), Math.round(at), call);
}

/** The result of a call. */
export interface Settlement {
  readonly call: string;
  readonly json: string;
  /** Undefined: after all that there is. */
  readonly seq: number | undefined;
  readonly at: number;
}

/** The first result stands; a second one is kept beside it. */
export function settleOnce(database: Database, { call, json, seq, at }: Settlement): number {
  const settled = database
    .prepare(
      `UPDATE unwedge_calls SET state = 'settled', result = ?, settled_at = CAST(? AS INTEGER), result_seq = coalesce(?,
         (SELECT max(max(other.seq), coalesce(max(other.result_seq), 0)) + 1 FROM unwedge_calls AS other
          WHERE other.session = unwedge_calls.session))
       WHERE id = ? AND state = 'pending'`,
    )
    .run(json, at, seq ?? null, call);
  if (settled > 0) return settled;
  return database
    .prepare(
      `UPDATE unwedge_calls SET late_result = ?, late_at = CAST(? AS INTEGER) WHERE id = ? AND late_result IS NULL`,
    )
    .run(json, at, call);
}

/** Keeps the row of a message with a key, without its text, for as long as a second one of that key has to be recognised. */
export function forgetTurns(database: Database, session: string, beforeTurn: number): number {
  const over = `session = ? AND (state IN ('done', 'failed') AND turn < ? OR state = 'dropped')`;
  const last = 'SELECT max(number) FROM unwedge_messages WHERE session = ?';
  const calls = database.prepare(`DELETE FROM unwedge_calls WHERE state = 'settled' AND session = ? AND turn < ?`);
  const messages = database.prepare(
    `DELETE FROM unwedge_messages WHERE ${over} AND (key IS NULL OR number <= (${last}) - ${maxKeys})`,
  );
  const texts = database.prepare(`UPDATE unwedge_messages SET body = '{}', seq = NULL WHERE ${over} AND body <> '{}'`);
  return calls.run(session, beforeTurn) + messages.run(session, beforeTurn, session) + texts.run(session, beforeTurn);
}

/** The ids of other runtimes that have pending calls. */
export function selectCallers(database: Database, runtime: string): readonly string[] {
  return database
    .prepare(`SELECT DISTINCT runtime FROM unwedge_calls WHERE state = 'pending' AND rule IS NULL AND runtime <> ?`)
    .all(runtime)
    .map((row) => String(row['runtime']));
}

/** A call that is pending, as it was written. */
export function storedCall(row: SqlRow): StoredCall {
  const call = toCallRow(row);
  const { effect, ...lost } = lostCall(call);
  return { ...lost, effect, seq: call.seq, at: call.startedAt, deadlineAt: Number(row['deadline_at']) };
}
