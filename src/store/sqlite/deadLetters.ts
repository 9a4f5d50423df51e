import { messageId } from '../../sessions/mailbox.ts';
import { type DeadLetterReason, type Resend, resendKey, type StoredDeadLetter } from '../../sessions/sessionStore.ts';
import { isDeadLetter, messageIn } from '../sessionRows.ts';
import type { Database } from './database.ts';

/** Reads one dead letter of a session. */
export function selectDeadLetter(database: Database, session: string, number: number): StoredDeadLetter | undefined {
  const row = database
    .prepare(`SELECT body, state FROM unwedge_messages WHERE session = ? AND number = ? AND ${isDeadLetter}`)
    .get(session, number);
  if (row === undefined) return undefined;
  return { number, message: messageIn(String(row['body'])), reason: String(row['state']) as DeadLetterReason };
}

/** Takes a dead letter out. @returns the number of rows it changed. */
export function buryLetter(database: Database, session: string, number: number, at: number, why: string): number {
  return database
    .prepare(
      `UPDATE unwedge_messages SET state = 'dropped', ended_at = CAST(? AS INTEGER), error = ?
       WHERE session = ? AND number = ? AND ${isDeadLetter}`,
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
       WHERE session = ? AND number = ? AND ${isDeadLetter}`,
    )
    .run(number, resendKey(letter), Math.round(at), session, letter);
  if (made === 0) return false;
  buryLetter(database, session, letter, at, `sent again as ${messageId(session, { number })}`);
  return true;
}
