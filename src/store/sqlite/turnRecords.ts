import { messageId } from '../../sessions/messageId.ts';
import { checkInteger } from '../../policy/options.ts';
import type { CallRecord, TurnRecord } from '../storeReader.ts';
import type { Database, SqlRow } from './database.ts';
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
  return turns.map((row) => ({
    turn: Number(row['turn']),
    message: messageId(session, { number: Number(row['number']) }),
    kind: typeof row['kind'] === 'string' ? row['kind'] : 'unreadable',
    state: String(row['state']),
    deliveries: Number(row['deliveries']),
    postedAt: Number(row['posted_at']),
    ...numberIn(row, 'taken_at', 'takenAt'),
    ...numberIn(row, 'ended_at', 'endedAt'),
    ...(typeof row['error'] === 'string' && { error: row['error'] }),
    calls: calls.all(session, Number(row['turn'])).map(callOf),
  }));
}

function callOf(row: SqlRow): CallRecord {
  return {
    call: String(row['id']),
    integration: String(row['integration']),
    tool: String(row['tool']),
    startedAt: Number(row['started_at']),
    ...numberIn(row, 'settled_at', 'settledAt'),
    ...numberIn(row, 'late_at', 'lateAt'),
    ...(row['status'] !== null && { ok: row['status'] === 'ok' }),
    ...(row['synthetic'] === 1 && { synthetic: true }),
    ...numberIn(row, 'attempts', 'attempts'),
  };
}

function numberIn<K extends string>(row: SqlRow, column: string, name: K): { readonly [key in K]?: number } {
  const value = row[column];
  return value === null || value === undefined ? {} : ({ [name]: Number(value) } as { readonly [key in K]?: number });
}

/** SQL for a field of a text that should be JSON. */
const inJson = (column: string, name: string): string =>
  `CASE WHEN json_valid(${column}) THEN json_extract(${column}, '$.${name}') END`;
