import type { Transaction } from './pgConnections.ts';

/** Result of one step. */
export interface Pruned {
  /** Rows it deleted. */
  readonly rows: number;
  /** True where there may be more. */
  readonly more: boolean;
}

/** Rows of others that are written at this moment are left for the next time: nobody waits for them. */
const old = (table: string, key: string, where: string): string => `
  WITH gone AS (
    DELETE FROM uw.${table} WHERE ${key} IN (
      SELECT ${key.replace(/[()]/g, '')} FROM uw.${table} WHERE ${where} LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING 1)
  SELECT count(*) AS rows FROM gone`;

/** By the wall clocks that wrote the rows. */
const byTime = {
  event: old('event', 'id', 'at < $1'),
  alert: old('alert', 'id', 'cleared_at < $1'),
  statistic: old('statistic', '(minute, integration, tool)', 'minute < $1 AND minute >= 0'),
  flight: old('flight', 'id', 'at < $1'),
  policy: old('policy', '(name, digest)', 'seen_at < $1'),
} as const;

/** By the clock of the database. */
const before = (column: string): string => `${column} < clock_timestamp() - $1 * interval '1 ms'`;
const byAge = {
  // A writer that goes on begins to count anew.
  writer: old('writer', 'id', before('at')),
  // Old ones are of machines that are no more: nobody else can judge their processes.
  runtime: old(
    'runtime',
    'id',
    `${before('seen_at')} AND NOT EXISTS (SELECT 1 FROM uw.node n WHERE n.id = runtime.id)`,
  ),
  child: old(
    'child',
    '(host, pid, process_start)',
    `started_at < extract(epoch FROM clock_timestamp()) * 1000 - $1
     AND NOT EXISTS (SELECT 1 FROM uw.runtime r WHERE r.host = child.host AND r.pid = child.owner_pid)`,
  ),
} as const;

export type PrunedTable = keyof typeof byTime | keyof typeof byAge;

/** Deletes up to `limit` rows of a table that are older. @param than - wall time in ms since the epoch; of writers, runs and children the age in ms. */
export async function pruneTable(
  transaction: Transaction,
  table: PrunedTable,
  than: number,
  limit: number,
): Promise<Pruned> {
  const text = { ...byTime, ...byAge }[table];
  const [row] = await transaction.run({ name: '', text }, [than, limit]);
  const rows = Number(row?.['rows'] ?? 0);
  return { rows, more: rows === limit };
}

/** The next sessions, and up to `$4` of the first calls and messages of each that ended before `$2`. */
const endedOfSessions = `
  WITH s AS MATERIALIZED (
    SELECT key, owner IS NOT NULL AS owned FROM uw.lease WHERE key > $1 ORDER BY key LIMIT $3),
  calls AS (
    DELETE FROM uw.call WHERE id IN (
      SELECT c.id FROM s CROSS JOIN LATERAL (SELECT id FROM uw.call WHERE session = s.key ORDER BY turn LIMIT $4) f
      JOIN uw.call c ON c.id = f.id
      WHERE c.state = 'settled' AND c.settled_at < $2 FOR UPDATE OF c SKIP LOCKED) RETURNING 1),
  messages AS (
    DELETE FROM uw.message WHERE (session, number) IN (
      SELECT m.session, m.number FROM s CROSS JOIN LATERAL (
        SELECT number FROM uw.message WHERE session = s.key ORDER BY number LIMIT $4) f
      JOIN uw.message m ON m.session = s.key AND m.number = f.number
      WHERE m.state NOT IN ('waiting', 'taken') AND m.ended_at < $2
        AND NOT (s.owned AND m.number = (SELECT max(number) FROM uw.message WHERE session = s.key))
      FOR UPDATE OF m SKIP LOCKED) RETURNING 1)
  SELECT (SELECT count(*) FROM calls) + (SELECT count(*) FROM messages) AS rows,
    (SELECT key FROM s ORDER BY key DESC LIMIT 1) AS last`;

/** Behind it: a statement of its own sees what was deleted. */
const emptySessions = `
  WITH gone AS (
    DELETE FROM uw.lease l WHERE l.key > $1 AND l.key <= $2 AND l.owner IS NULL
      AND NOT EXISTS (SELECT 1 FROM uw.message WHERE session = l.key)
      AND NOT EXISTS (SELECT 1 FROM uw.call WHERE session = l.key)
      AND NOT EXISTS (SELECT 1 FROM uw.mail WHERE session = l.key) RETURNING 1)
  SELECT count(*) AS rows FROM gone`;

/** Sessions of one step. */
const sessionsAtOnce = 50;

/**
 * Looks at the first `limit` calls and messages of each of the next sessions after `after`, and deletes those that ended before: the limits bound the
 * time, however long a session is. One that a node owns keeps its last message: its numbers go on. One that nobody owns is forgotten when nothing of
 * it is left.
 * @param before - wall time in ms since the epoch.
 * @returns `next`: after which session to go on; undefined when there are no more.
 */
export async function pruneSessions(
  transaction: Transaction,
  after: string,
  before: number,
  limit: number,
): Promise<{ readonly rows: number; readonly next: string | undefined }> {
  const [row] = await transaction.run({ name: '', text: endedOfSessions }, [after, before, sessionsAtOnce, limit]);
  const last = row?.['last'];
  if (typeof last !== 'string') return { rows: 0, next: undefined };
  const rows = Number(row?.['rows'] ?? 0);
  if (rows > 0) return { rows, next: after };
  const [gone] = await transaction.run({ name: '', text: emptySessions }, [after, last]);
  return { rows: Number(gone?.['rows'] ?? 0), next: last };
}

/** Tables that are most of a store, by the estimate of the server: a table gives no room back that others could see, so files say nothing. */
const sizes = ['event', 'message', 'call', 'flight'] as const;
/** Beside the row itself: its header and its entries in indexes, in bytes. */
const besideRow = 120;

/** Bytes that the rows take, and of a row on average. */
export async function usedBytes(
  transaction: Transaction,
): Promise<{ readonly bytes: number; readonly perRow: number }> {
  const text = sizes
    .map(
      (table) => `SELECT pg_stat_get_live_tuples('uw.${table}'::regclass) AS rows,
        (SELECT coalesce(avg(pg_column_size(t.*)), 0)::float8 FROM (SELECT * FROM uw.${table} LIMIT 200) t) AS size`,
    )
    .join(' UNION ALL ');
  let [bytes, rows] = [0, 0];
  for (const row of await transaction.run({ name: '', text }, [])) {
    const count = Number(row['rows']);
    rows += count;
    bytes += count * (Number(row['size']) + besideRow);
  }
  return { bytes: Math.round(bytes), perRow: rows === 0 ? 0 : bytes / rows };
}

/** Takes the work for this node, unless another one has done it lately or is at it. @param freshMs - how long that holds others off. */
export async function takeChore(transaction: Transaction, name: string, freshMs: number): Promise<boolean> {
  const text = `INSERT INTO uw.chore AS c (name) VALUES ($1)
    ON CONFLICT (name) DO UPDATE SET at = clock_timestamp() WHERE c.at < clock_timestamp() - $2 * interval '1 ms'
    RETURNING 1 AS taken`;
  return (await transaction.run({ name: '', text }, [name, freshMs])).length > 0;
}

/** It goes on: others stay away. */
export async function keepChore(transaction: Transaction, name: string): Promise<void> {
  await transaction.run({ name: '', text: 'UPDATE uw.chore SET at = clock_timestamp() WHERE name = $1' }, [name]);
}
