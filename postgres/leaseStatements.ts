import { statement } from '../src/store/face.ts';
import { movesFrom, reservedFor } from './moveStatements.ts';
import type { Sql } from './pgConnections.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';

/** The first key of every presence: of those of our schema. */
const schemaKey = "hashtext('unwedge uw_schema')";

/** The two keys of the lock that is the presence of a runtime. @param runtime - an expression of SQL, of its id. */
export function presenceKey(runtime: string): string {
  return `${schemaKey}, hashtext(${runtime})`;
}

/**
 * The runtimes whose presence is held, as `present`: a common table expression, which is read once, and only where it is asked. It looks at the
 * locks rather than trying them: a lock that is tried is held for a moment, and its owner may ask for it in this moment.
 */
const presenceKeys = `present AS MATERIALIZED (
      SELECT (CASE WHEN objid::bigint >= 2147483648 THEN objid::bigint - 4294967296 ELSE objid::bigint END)::integer AS runtime
      FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint = ${schemaKey}::bigint & 4294967295)`;

const from = (parameter: string): string => `clock_timestamp() + ${parameter}::integer * interval '1 ms'`;

/**
 * Enters a runtime as a node, or has one go on that had expired: by then it holds no session any more. From `due_at` on its renewal is overdue.
 * All times of nodes are by the clock of the database, as it is at the moment: `now()` stands still within a transaction.
 */
export const enterNode: Sql = {
  name: 'enter_node',
  text: `INSERT INTO uw.node AS n (id, expires_at, due_at, owned, waiting, renew_ms, backend, host, pid, name)
    VALUES ($1, ${from('$2')}, ${from('$3')}, $4, $5, $6, pg_backend_pid(), $7, $8, $9)
    ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at, due_at = excluded.due_at, seen_at = clock_timestamp(),
      backend = excluded.backend, owned = excluded.owned, waiting = excluded.waiting, renew_ms = excluded.renew_ms, name = excluded.name
    RETURNING 1 AS ord`,
};

/**
 * Renews the lease of a node, and with it those of all its sessions. Answers with the sessions that it is to give to others. No row: it had expired, or
 * was declared dead.
 */
export const renewNode: Sql = {
  name: 'renew_node',
  text: `UPDATE uw.node SET expires_at = ${from('$2')}, due_at = ${from('$3')}, seen_at = clock_timestamp(),
      backend = pg_backend_pid(), owned = $4, waiting = $5, renew_ms = $6
    WHERE id = $1 AND expires_at > clock_timestamp() RETURNING 1 AS ord, ${movesFrom('$1')} AS moves`,
};

/** Takes a node off; its sessions are free with it. */
export const removeNode = statement('remove_node', 'id text', 'DELETE FROM uw.node AS n USING w WHERE n.id = :id');

/** Nodes that nobody has heard of for an hour. */
export const removeOldNodes = statement(
  'remove_old_nodes',
  'minutes integer',
  `DELETE FROM uw.node WHERE id IN (
     SELECT n.id FROM uw.node n CROSS JOIN w
     WHERE n.expires_at < clock_timestamp() - :minutes * interval '1 minute' FOR UPDATE OF n SKIP LOCKED)`,
);

/** A node as it was renewed last: its next renewal has another name. */
const renewedAs = "id || ' ' || extract(epoch FROM seen_at)";

/**
 * Declares the nodes dead whose presence is gone, and whose renewal is overdue or was seen as `gone` for long enough (`$2`): a node whose own connection
 * broke goes on renewing. Gives the other nodes that live, with how long they do at least, how many sessions they have said they own, and as `gone` those
 * that had their presence when they were renewed last, and have neither it nor the connection of that renewal now, as a process that was killed.
 */
export const lookAtNodes: Sql = {
  name: 'look_at_nodes',
  text: `WITH ${presenceKeys},
    dead AS (
      UPDATE uw.node SET expires_at = clock_timestamp() WHERE id IN (
        SELECT id FROM uw.node
        WHERE (due_at <= clock_timestamp() OR ${renewedAs} = ANY ($2::text[])) AND expires_at > clock_timestamp() AND id <> $1
          AND hashtext(id) NOT IN (SELECT runtime FROM present)
        FOR NO KEY UPDATE SKIP LOCKED)
      RETURNING id)
    SELECT id, (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8 AS in_ms, owned,
      CASE WHEN due_at < expires_at AND backend IS NOT NULL
        AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.pid = n.backend)
        AND hashtext(id) NOT IN (SELECT runtime FROM present) THEN ${renewedAs} END AS gone
    FROM uw.node n WHERE id <> $1 AND expires_at > clock_timestamp() AND id NOT IN (SELECT id FROM dead)`,
};

/**
 * Takes the leases that are free: never held, given back and not reserved for another node, the asker's own, or those of a node that has expired. It
 * waits for no lock, as whoever holds one may hang: what is locked by a write or a renewal is not free yet. What it has locked itself stays as it judged
 * it until the commit.
 */
export const acquireLease: RowStatement = {
  name: 'acquire_lease',
  text: `WITH ${rowsOf('session text, owner text, lease_id uuid')},
    known AS MATERIALIZED (
      SELECT l.key, l.owner FROM w JOIN uw.lease l ON l.key = w.session ORDER BY l.key FOR NO KEY UPDATE OF l SKIP LOCKED),
    gone AS MATERIALIZED (
      SELECT n.id FROM uw.node n WHERE n.expires_at <= clock_timestamp() AND n.id IN (SELECT owner FROM known)
      FOR SHARE SKIP LOCKED),
    ${reservedFor('w.owner')},
    taken AS (
      UPDATE uw.lease AS l SET owner = w.owner, lease_id = w.lease_id, token = l.token + 1, taken_at = clock_timestamp()
      FROM w JOIN known k ON k.key = w.session
      WHERE l.key = k.key AND (k.owner IS NULL AND k.key NOT IN (SELECT session FROM reserved)
        OR k.owner = w.owner OR k.owner IN (SELECT id FROM gone))
      RETURNING l.key, l.token),
    moved AS (
      DELETE FROM uw.move WHERE session IN (
        SELECT session FROM uw.move WHERE session IN (SELECT key FROM taken) FOR UPDATE SKIP LOCKED)),
    made AS (
      INSERT INTO uw.lease (key, owner, lease_id, token)
      SELECT session, owner, lease_id, 1 FROM w WHERE NOT EXISTS (SELECT FROM uw.lease l WHERE l.key = w.session)
      ORDER BY session ON CONFLICT DO NOTHING RETURNING key, token)
    SELECT w.ord, coalesce(taken.token, made.token) AS token, coalesce(l.owner, r.heir) AS owner FROM w
    LEFT JOIN taken ON taken.key = w.session LEFT JOIN made ON made.key = w.session
    LEFT JOIN uw.lease l ON l.key = w.session LEFT JOIN reserved r ON r.session = w.session`,
};

/** Gives a lease back. */
export const releaseLease: RowStatement = {
  name: 'release_lease',
  text: `WITH ${rowsOf('session text, token bigint, lease_id uuid')}
    UPDATE uw.lease AS l SET owner = NULL FROM w
    WHERE l.key = w.session AND l.token = w.token AND l.lease_id = w.lease_id RETURNING w.ord`,
};

/** Finds which of these sessions nobody has, a row each, with whether they are reserved for another node; of the others one row for each owner. */
export const findTakeable: Sql = {
  name: 'find_takeable',
  text: `WITH live AS MATERIALIZED (SELECT id FROM uw.node WHERE expires_at > clock_timestamp() AND id <> $2),
    w AS MATERIALIZED (SELECT * FROM unnest($1::text[]) AS w (session)),
    ${reservedFor('$2')},
    judged AS MATERIALIZED (
      SELECT w.session AS key, l.owner, coalesce(l.owner IN (SELECT id FROM live), false) AS held,
        l.owner IS NULL AND w.session IN (SELECT session FROM reserved) AS reserved
      FROM w LEFT JOIN uw.lease l ON l.key = w.session)
    SELECT key, NULL AS owner, reserved FROM judged WHERE NOT held
    UNION ALL SELECT DISTINCT NULL, owner, false FROM judged WHERE held`,
};

/** Locks the leases of what a transaction is going to write, all at once and in order. */
export const lockLeases: Sql = {
  name: 'lock_leases',
  text: 'SELECT key FROM uw.lease WHERE key = ANY ($1::text[]) ORDER BY key FOR SHARE',
};
