import { isDeadLetter } from '../../deadLetterRows.ts';
import { sessionRecordsIn } from '../../recordRows.ts';
import type { SessionRecords } from '../../storeReader.ts';
import type { Ask } from './pgReads.ts';

/** Most rows that are told of each kind. */
const mostRows = 100;

/** Ids of the sessions that are kept, at most 1000: each has a lease, whoever holds it. @throws what the server says. */
export async function readPgSessionIds(ask: Ask): Promise<readonly string[]> {
  return (await ask('SELECT key FROM uw.lease ORDER BY key COLLATE "C" LIMIT 1000')).map((row) => String(row['key']));
}

/** Undefined for a session that was never kept here. @throws what the server says. */
export async function readPgSessionRecords(ask: Ask, session: string): Promise<SessionRecords | undefined> {
  const [known, messages, calls, deadLetters] = await Promise.all([
    ask('SELECT 1 AS known FROM uw.lease WHERE key = $1', [session]),
    ask(
      `SELECT number, mail, body, state, deliveries, posted_at FROM uw.message
       WHERE session = $1 AND state IN ('waiting', 'taken') ORDER BY number LIMIT ${mostRows}`,
      [session],
    ),
    ask(
      `SELECT id, integration, tool, started_at, deadline_at, rule FROM uw.call
       WHERE session = $1 AND state = 'pending' ORDER BY seq LIMIT ${mostRows}`,
      [session],
    ),
    ask(
      `SELECT number, mail, state FROM uw.message WHERE session = $1 AND ${isDeadLetter} ORDER BY number DESC LIMIT ${mostRows}`,
      [session],
    ),
  ]);
  return known.length === 0 ? undefined : sessionRecordsIn(session, { messages, calls, deadLetters });
}
