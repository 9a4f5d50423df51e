import type { Retention } from '../src/policy/face.ts';
import { type Prunable, passEveryMs, pruned, written } from '../src/store/face.ts';
import { isForgettable } from '../src/store/tables/face.ts';
import type { PgConnections, Transaction } from './pgConnections.ts';
import { queryOf, queryValues } from './pgTables.ts';

/** Rows of a step: a few ms of the server. */
const most = 500;
/** Runs of other machines that were not heard of for so long are gone, whatever else is kept, in ms. */
const goneMs = 24 * 60 * 60_000;

const events = pruned('event', 'id', 'at < :before');

/** By the clock of the database. */
const before = (column: string): string => `${column} < clock_timestamp() - :before * interval '1 ms'`;
/** Rows by which writers know what they wrote; a writer that goes on begins to count anew. */
const writers = pruned('writer', 'id', before('at'));
/** Old ones are of machines that are no more: nobody else can judge their processes. */
const elsewhere = [
  pruned('runtime', 'id', `${before('seen_at')} AND NOT EXISTS (SELECT 1 FROM uw.node n WHERE n.id = runtime.id)`),
  pruned(
    'child',
    'host, pid, process_start',
    `started_at < extract(epoch FROM clock_timestamp()) * 1000 - :before
     AND NOT EXISTS (SELECT 1 FROM uw.runtime r WHERE r.host = child.host AND r.pid = child.owner_pid)`,
  ),
];

/**
 * A database as what is old is deleted from it, by one node for all that keep it by the same bounds.
 * @param connections - its own: no commit waits for a step, and no step for a commit.
 */
export function prunedDatabase(connections: PgConnections, bounds: Retention | undefined): Prunable {
  /** A node that has been at it within so long has done it for all. */
  const freshMs = passEveryMs(bounds?.maxAgeMs ?? Infinity) / 2;
  const name = `retention ${bounds?.maxAgeMs} ${bounds?.maxBytes}`;
  let size = { bytes: 0, perRow: 0 };
  /** With each step it is said that it goes on: others stay away. */
  const stepped = <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> =>
    connections.transaction(async (transaction) => {
      const text = 'UPDATE uw.chore SET at = clock_timestamp() WHERE name = $1';
      await transaction.run({ name: '', text }, [name]);
      return work(transaction);
    });
  const rows: Prunable['rows'] = (made, than, limit) =>
    stepped(async (transaction) => {
      const gone = await transaction.run(queryOf(made), queryValues(made, { before: than, most: limit }));
      return { rows: gone.length, more: gone.length === limit };
    });
  return {
    stepRows: { first: most, least: most, most },
    endsWithStep: false,
    takes: () => connections.transaction((transaction) => takeChore(transaction, name, freshMs)),
    async bytes(gone) {
      if (gone === 0) size = await connections.transaction(usedBytes);
      return Math.max(0, Math.round(size.bytes - gone * size.perRow));
    },
    rows,
    events: (than, limit) => rows(events, than, limit),
    sessions: (after, than, limit) => stepped((transaction) => pruneSessions(transaction, after, than, limit)),
    aged: (maxAgeMs) => [[writers, maxAgeMs], ...elsewhere.map((made) => [made, goneMs] as const)],
    stop: () => connections.close(),
  };
}

/** The next sessions, and up to `$4` of the first calls and messages of each that ended before `$2`. */
const endedOfSessions = `
  WITH s AS MATERIALIZED (
    SELECT key, owner IS NOT NULL AS owned FROM uw.lease WHERE key > $1 ORDER BY key LIMIT $3),
  calls AS (
    DELETE FROM uw.call WHERE id IN (
      SELECT c.id FROM s CROSS JOIN LATERAL (
        SELECT id FROM uw.call k WHERE session = s.key
          AND ${written(isForgettable('k', 's.key'), 'server', () => '')} ORDER BY turn LIMIT $4) f
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
async function pruneSessions(
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
async function usedBytes(transaction: Transaction): Promise<{ readonly bytes: number; readonly perRow: number }> {
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

/** Takes the work for this node, unless another one has done it lately or is at it. */
async function takeChore(transaction: Transaction, name: string, freshMs: number): Promise<boolean> {
  const text = `INSERT INTO uw.chore AS c (name) VALUES ($1)
    ON CONFLICT (name) DO UPDATE SET at = clock_timestamp() WHERE c.at < clock_timestamp() - $2 * interval '1 ms'
    RETURNING 1 AS taken`;
  return (await transaction.run({ name: '', text }, [name, freshMs])).length > 0;
}
