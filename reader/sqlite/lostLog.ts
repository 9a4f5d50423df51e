import { type Database, field, lostLogText, readLostLog } from '../../src/store/sqlite/face.ts';
import type { LostLogRecord } from '../storeReader.ts';

/** Returns what is known of a log that was lost: by an event since then, wall time in ms since the epoch, or by the mark. @throws what SQLite reports. */
export function selectLostLog(
  database: Database,
  path: string,
  table: string | undefined,
  since: number,
): LostLogRecord | undefined {
  const lost = readLostLog(database, path);
  if (lost !== undefined) return lostLogText(path, lost);
  if (table === undefined) return undefined;
  const row = database
    .prepare(
      `SELECT timestamp, ${field('reason')} AS reason, ${field('fix')} AS fix FROM ${table}
       WHERE category = 'store' AND event_type = 'log_lost' AND timestamp > ? ORDER BY rowid DESC LIMIT 1`,
    )
    .get(since);
  return row && { at: Number(row['timestamp']), reason: String(row['reason']), fix: String(row['fix']) };
}
