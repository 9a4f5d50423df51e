import { checkInteger } from '../../policy/options.ts';
import { callRecordIn, turnIn } from '../recordRows.ts';
import type { TurnRecord } from '../storeReader.ts';
import type { Database } from './database.ts';
import { hasTable } from './schema.ts';

/** The last turns of a session, newest first. @throws what SQLite reports. */
export function readTurns(database: Database, session: string, limit: number): readonly TurnRecord[] {
  checkInteger('limit', limit);
  if (!hasTable(database, 'unwedge_messages')) return [];
  const turns = database
    .prepare(
      `SELECT number, ${inJson('body', 'kind')} AS kind, state, deliveries, posted_at, turn, taken_at, ended_at, error
       FROM unwedge_messages WHERE session = ? AND turn IS NOT NULL ORDER BY turn DESC LIMIT ?`,
    )
    .all(session, limit);
  // Results may be large: of their JSON only what is shown is read.
  const calls = database.prepare(
    `SELECT id, integration, tool, started_at, settled_at, late_at, ${inJson('result', 'status')} AS status,
       ${inJson('result', 'synthetic')} AS synthetic, coalesce(${inJson('result', 'attempts')}, ${inJson('result', 'retries')} + 1) AS attempts
     FROM unwedge_calls WHERE session = ? AND turn = ? ORDER BY seq LIMIT 100`,
  );
  return turns.map((row) => {
    const kind = typeof row['kind'] === 'string' ? row['kind'] : undefined;
    return turnIn(
      session,
      row,
      kind,
      calls.all(session, Number(row['turn'])).map((call) => callRecordIn(call, call)),
    );
  });
}

/** SQL for a field of a text that should be JSON. */
const inJson = (column: string, name: string): string =>
  `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '$.${name}') END`;
