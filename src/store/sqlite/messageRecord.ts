import { messageNamed } from '../../sessions/messageId.ts';
import { checkInteger } from '../../policy/options.ts';
import type { HistoryEntry } from '../../sessions/history.ts';
import { messageRecordIn } from '../recordRows.ts';
import type { MessageRecord } from '../storeReader.ts';
import type { Database } from './database.ts';
import { hasTable } from './schema.ts';
import { selectHistory } from './sessionTables.ts';

/** Reads one message of a session. A file has no mail. @throws what SQLite reports. */
export function readMessage(database: Database, session: string, id: string): MessageRecord | undefined {
  const named = messageNamed(id, session);
  if (named === undefined || !('number' in named) || !hasTable(database, 'unwedge_messages')) return undefined;
  const row = database
    .prepare(
      `SELECT number, body, state, error, (
         SELECT result FROM unwedge_calls c WHERE c.session = m.session AND c.turn = m.turn AND c.state = 'settled'
         ORDER BY coalesce(c.result_seq, c.seq) DESC LIMIT 1) AS result
       FROM unwedge_messages m WHERE session = ? AND number = ?`,
    )
    .get(session, named.number);
  return row === undefined ? undefined : messageRecordIn(session, row, row['result']);
}

/** The latest whole turns of a session. @throws what SQLite reports. */
export function readHistory(database: Database, session: string, limit: number): readonly HistoryEntry[] {
  checkInteger('limit', limit);
  return hasTable(database, 'unwedge_messages') ? selectHistory(database, session, limit) : [];
}
