import type { Sql } from './pgConnections.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';

/**
 * Takes the leases that are free: never held, given back, run out, or the asker's own. All by the clock of the database, as it is at this moment:
 * `now()` stands still within a transaction.
 */
export const acquireLease: RowStatement = {
  name: 'acquire_lease',
  text: `WITH ${rowsOf('session text, owner text, lease_id uuid, lease_ms integer')},
    taken AS (
      INSERT INTO uw.lease AS l (key, owner, lease_id, token, expires_at)
      SELECT session, owner, lease_id, 1, clock_timestamp() + lease_ms * interval '1 ms' FROM w ORDER BY session
      ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, lease_id = excluded.lease_id, token = l.token + 1,
        expires_at = excluded.expires_at
      WHERE l.owner IS NULL OR l.owner = excluded.owner OR l.expires_at <= clock_timestamp()
      RETURNING key, token)
    SELECT w.ord, taken.token, known.owner FROM w
    LEFT JOIN taken ON taken.key = w.session LEFT JOIN uw.lease known ON known.key = w.session`,
};

/** Gives a lease back. */
export const releaseLease: RowStatement = {
  name: 'release_lease',
  text: `WITH ${rowsOf('session text, token bigint, lease_id uuid')}
    UPDATE uw.lease AS l SET owner = NULL, expires_at = clock_timestamp() FROM w
    WHERE l.key = w.session AND l.token = w.token AND l.lease_id = w.lease_id RETURNING w.ord`,
};

/** Gives all of a runtime back. */
export const releaseAll: RowStatement = {
  name: 'release_all',
  text: `WITH ${rowsOf('owner text')}
    UPDATE uw.lease AS l SET owner = NULL, expires_at = clock_timestamp() FROM w WHERE l.owner = w.owner`,
};

/** In the order of their keys, as writes lock them: else a renewal and a commit of the same runtime could wait for each other. */
export const renewAll: Sql = {
  name: 'renew_leases',
  text: `WITH mine AS MATERIALIZED (
      SELECT key FROM uw.lease WHERE owner = $1 AND expires_at > clock_timestamp() ORDER BY key FOR NO KEY UPDATE)
    UPDATE uw.lease AS l SET expires_at = clock_timestamp() + $2::integer * interval '1 ms' FROM mine
    WHERE l.key = mine.key RETURNING l.key, l.token`,
};

/** Locks the leases of what a transaction is going to write, all at once and in order. */
export const lockLeases: Sql = {
  name: 'lock_leases',
  text: 'SELECT key FROM uw.lease WHERE key = ANY ($1::text[]) ORDER BY key FOR SHARE',
};
