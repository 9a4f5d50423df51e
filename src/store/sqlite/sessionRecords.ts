import { isDeadLetter } from '../deadLetterRows.ts';
import { sessionRecordsIn } from '../recordRows.ts';
import type { SessionRecords } from '../storeReader.ts';
import type { Database } from './database.ts';
import { hasTable } from './schema.ts';

/** Ids of the sessions that are kept, at most 1000. @throws what SQLite reports. */
export function readSessionIds(database: Database): readonly string[] {
  if (!hasTable(database, 'unwedge_sessions')) return [];
  const rows = database.prepare('SELECT id FROM unwedge_sessions ORDER BY id LIMIT 1000').all();
  return rows.map((row) => String(row['id']));
}

/** Ids of those of which messages wait or calls are pending, at most 1000. @throws what SQLite reports. */
export function readWaitingSessions(database: Database): readonly string[] {
  if (!hasTable(database, 'unwedge_sessions')) return [];
  const rows = database
    .prepare(
      `SELECT session AS id FROM unwedge_messages WHERE state IN ('waiting', 'taken')
       UNION SELECT session FROM unwedge_calls WHERE state = 'pending' ORDER BY id LIMIT 1000`,
    )
    .all();
  return rows.map((row) => String(row['id']));
}

/** Undefined for a session that was never kept here. @throws what SQLite reports. */
export function readSessionRecords(database: Database, session: string): SessionRecords | undefined {
  if (!hasTable(database, 'unwedge_sessions')) return undefined;
  if (database.prepare('SELECT 1 FROM unwedge_sessions WHERE id = ?').get(session) === undefined) return undefined;
  const messages = database
    .prepare(
      `SELECT number, body, state, deliveries, posted_at FROM unwedge_messages
       WHERE session = ? AND state IN ('waiting', 'taken') ORDER BY number LIMIT 100`,
    )
    .all(session);
  const calls = database
    // A database of before has no rules.
    .prepare(`SELECT * FROM unwedge_calls WHERE session = ? AND state = 'pending' ORDER BY seq LIMIT 100`)
    .all(session);
  const deadLetters = database
    .prepare(
      `SELECT number, state FROM unwedge_messages
       WHERE session = ? AND ${isDeadLetter} ORDER BY number DESC LIMIT 100`,
    )
    .all(session);
  return sessionRecordsIn(session, { messages, calls, deadLetters });
}
