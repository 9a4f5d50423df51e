import { messageId } from '../../sessions/messageId.ts';
import { type DeadLetterReason, type Resend, resendKey, type StoredDeadLetter } from '../../sessions/sessionStore.ts';
import { createRedactor, type Redactor } from '../redact.ts';
import { fromJson } from '../json.ts';
import { messageIn } from '../sessionRows.ts';
import type { DeadLetterRecord } from '../storeReader.ts';
import type { Database, SqlRow } from './database.ts';
import { hasTable } from './schema.ts';

const isDead = `state IN ('poison', 'expired', 'malformed')`;

/** Most of a message's text that is shown, in characters. */
const shownChars = 300;

/** One dead letter of a session. */
export function selectDeadLetter(database: Database, session: string, number: number): StoredDeadLetter | undefined {
  const row = database
    .prepare(`SELECT body, state FROM unwedge_messages WHERE session = ? AND number = ? AND ${isDead}`)
    .get(session, number);
  if (row === undefined) return undefined;
  return { number, message: messageIn(String(row['body'])), reason: String(row['state']) as DeadLetterReason };
}

/** Takes a dead letter out. @returns the number of rows it changed. */
export function buryLetter(database: Database, session: string, number: number, at: number, why: string): number {
  return database
    .prepare(
      `UPDATE unwedge_messages SET state = 'dropped', ended_at = CAST(? AS INTEGER), error = ?
       WHERE session = ? AND number = ? AND ${isDead}`,
    )
    .run(Math.round(at), why, session, number);
}

/** Makes the new message of a dead letter and takes the letter out. False where it is none any more. */
export function resendLetter(
  database: Database,
  session: string,
  { letter, number, at }: Pick<Resend, 'letter' | 'number' | 'at'>,
): boolean {
  // The new one first: where a foreign database refuses its row, the letter stays.
  const made = database
    .prepare(
      `INSERT INTO unwedge_messages (session, number, body, key, state, posted_at)
       SELECT session, ?, body, ?, 'waiting', CAST(? AS INTEGER) FROM unwedge_messages
       WHERE session = ? AND number = ? AND ${isDead}`,
    )
    .run(number, resendKey(letter), Math.round(at), session, letter);
  if (made === 0) return false;
  buryLetter(database, session, letter, at, `sent again as ${messageId(session, { number })}`);
  return true;
}

/** Dead letters of a session or of all, the newest first. @throws what SQLite reports. */
export function readDeadLetters(
  database: Database,
  session: string | undefined,
  limit: number,
): readonly DeadLetterRecord[] {
  if (!hasTable(database, 'unwedge_messages')) return [];
  const redact = createRedactor();
  const columns = 'session, number, body, state, deliveries, posted_at, ended_at';
  const order = 'ORDER BY ended_at DESC, session, number DESC LIMIT ?';
  const rows =
    session === undefined
      ? database.prepare(`SELECT ${columns} FROM unwedge_messages WHERE ${isDead} ${order}`).all(limit)
      : database
          .prepare(`SELECT ${columns} FROM unwedge_messages WHERE ${isDead} AND session = ? ${order}`)
          .all(session, limit);
  return rows.map((row) => toRecord(row, redact));
}

function toRecord(row: SqlRow, redact: Redactor): DeadLetterRecord {
  const session = String(row['session']);
  const message = messageIn(String(row['body']));
  const text = message?.text === undefined ? undefined : shownText(message.text, redact);
  return {
    id: messageId(session, { number: Number(row['number']) }),
    session,
    kind: message?.kind ?? 'unreadable',
    reason: String(row['state']),
    deliveries: Number(row['deliveries']),
    postedAt: Number(row['posted_at']),
    ...(row['ended_at'] !== null && { endedAt: Number(row['ended_at']) }),
    ...(text !== undefined && { text }),
    canSend: message !== undefined,
  };
}

function shownText(text: string, redact: Redactor): string {
  const clean = (fromJson(redact({ text }))?.value as { text?: unknown } | undefined)?.text;
  return typeof clean === 'string' ? clean.slice(0, shownChars) : '';
}
