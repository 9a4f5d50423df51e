import { type DeadLetterReason, maxKeys, type Past, type StoredDeadLetter } from '../src/sessions/sessionStore.ts';
import type { NamedMessage } from '../src/sessions/mailbox.ts';
import { historyOf, messageIn, nameOf, toCallRow, toMessageRow } from '../src/store/sessionRows.ts';
import type { BatchRows } from './batch.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';

/** Columns of a message, as {@link toMessageRow} reads it. */
const messageColumns = 'm.number, m.mail, m.body, m.key, m.deliveries, m.stops, m.posted_at, m.turn, m.seq, m.taken_at';
/** Columns of a call, as {@link toCallRow} reads it. */
const callColumns = `c.id, c.session, c.turn, c.integration, c.tool, c.input, c.effect, c.rule, c.idempotency_key, c.seq,
  c.started_at, c.state, c.result, c.result_seq, c.settled_at`;

/** The messages without an end. */
export const unprocessedMessages: RowStatement = {
  name: 'unprocessed_messages',
  text: `WITH ${rowsOf('session text')}
    SELECT w.ord, ${messageColumns} FROM w JOIN uw.message m ON m.session = w.session
    WHERE m.state IN ('waiting', 'taken') ORDER BY w.ord, m.number`,
};

/** The calls without a result. */
export const pendingCalls: RowStatement = {
  name: 'pending_calls',
  text: `WITH ${rowsOf('session text')}
    SELECT w.ord, ${callColumns} FROM w JOIN uw.call c ON c.session = w.session
    WHERE c.state = 'pending' ORDER BY w.ord, c.seq`,
};

/** The last numbers in use. */
export const lastNumbers: RowStatement = {
  name: 'last_numbers',
  text: `WITH ${rowsOf('session text')}
    SELECT w.ord, coalesce(m.number, 0) AS message, greatest(m.turn, c.turn, 0) AS turn, greatest(m.seq, c.seq, 0) AS seq
    FROM w
    CROSS JOIN LATERAL (
      SELECT max(number) AS number, max(turn) AS turn, max(seq) AS seq FROM uw.message WHERE session = w.session) m
    CROSS JOIN LATERAL (
      SELECT max(turn) AS turn, max(greatest(seq, result_seq)) AS seq FROM uw.call WHERE session = w.session) c`,
};

/** Makes dead letters of messages that are not delivered any more. */
export const endAsDeadLetter: RowStatement = {
  name: 'end_as_dead_letter',
  together: true,
  text: `WITH ${rowsOf('session text, number bigint, reason text, at bigint')}
    UPDATE uw.message m SET state = w.reason, ended_at = w.at FROM w WHERE m.session = w.session AND m.number = w.number`,
};

const keys: RowStatement = {
  name: 'keys',
  text: `WITH ${rowsOf('session text')}
    SELECT w.ord, k.key, k.number, k.mail FROM w CROSS JOIN LATERAL (
      SELECT key, number, mail FROM uw.message WHERE session = w.session AND key IS NOT NULL ORDER BY number DESC LIMIT ${maxKeys}) k
    ORDER BY k.number`,
};

const takenMessages: RowStatement = {
  name: 'taken_messages',
  text: `WITH ${rowsOf('session text, most integer')}
    SELECT w.ord, m.* FROM w CROSS JOIN LATERAL (
      SELECT ${messageColumns} FROM uw.message m WHERE m.session = w.session AND m.seq IS NOT NULL
      ORDER BY m.seq DESC LIMIT w.most) m`,
};

const settledCalls: RowStatement = {
  name: 'settled_calls',
  text: `WITH ${rowsOf('session text, most integer')}
    SELECT w.ord, c.* FROM w CROSS JOIN LATERAL (
      SELECT ${callColumns} FROM uw.call c WHERE c.session = w.session AND c.state = 'settled'
      ORDER BY c.seq DESC LIMIT w.most) c`,
};

/** Reads what nobody needs before a session goes on, behind what was written of it. @returns as the claim gives it. */
export async function readPast(
  batch: BatchRows,
  session: string,
  historyLimit: number,
): Promise<(historyLimit: number) => Past> {
  const [[last], known, messages, calls] = await Promise.all([
    batch.row(lastNumbers, session, [session]),
    batch.row(keys, session, [session]),
    batch.row(takenMessages, session, [session, historyLimit]),
    batch.row(settledCalls, session, [session, Math.ceil(historyLimit / 2)]),
  ]);
  return (limit) => ({
    history: historyOf(session, messages.map(toMessageRow), calls.map(toCallRow), Math.min(limit, historyLimit)),
    keys: known.map(keyIn),
    lastMessage: Number(last?.['message'] ?? 0),
    lastTurn: Number(last?.['turn'] ?? 0),
    lastSeq: Number(last?.['seq'] ?? 0),
  });
}

/** Reads one dead letter of a session; undefined where there is none, or the store cannot be read. */
export async function readDeadLetter(
  database: PgDatabase,
  session: string,
  message: NamedMessage,
): Promise<StoredDeadLetter | undefined> {
  const [column, value] = 'mail' in message ? ['mail', message.mail] : ['number', message.number];
  const text = `SELECT number, mail, body, state FROM uw.message
    WHERE session = $1 AND ${column} = $2 AND state IN ('poison', 'expired', 'malformed')`;
  const [row] = (await database.read({ name: `dead_letter_by_${column}`, text }, [session, value])) ?? [];
  if (row === undefined) return undefined;
  return { ...nameOf(row), message: messageIn(String(row['body'])), reason: String(row['state']) as DeadLetterReason };
}

function keyIn(row: PgRow): Past['keys'][number] {
  const { number, mail } = nameOf(row);
  return mail === undefined ? [String(row['key']), number] : [String(row['key']), number, mail];
}
