import type { Sql } from './pgConnections.ts';

const live = 'live AS MATERIALIZED (SELECT id, waiting FROM uw.node WHERE expires_at > clock_timestamp())';

/** Moves that hold: those of heirs that live. */
const moving = `moving AS MATERIALIZED (
      SELECT session, heir FROM uw.move WHERE until > clock_timestamp() AND heir IN (SELECT id FROM live))`;

/** Lets this transaction decide on moves, and no other one meanwhile; false where another one does. */
export const lockMoves: Sql = {
  name: 'lock_moves',
  text: `SELECT pg_try_advisory_xact_lock(hashtext('unwedge moves of uw_schema'), 0) AS decides`,
};

/**
 * Finds what the nodes that live own, a row each, and sessions that the asker waits for, that are others' and in which nothing is under way. All of it is of
 * one moment. A session on its way counts as its heir's.
 * @param values - the sessions, the asker, and how many of each owner.
 */
export const findMovable: Sql = {
  name: 'find_movable',
  text: `WITH ${live}, ${moving},
    placed AS MATERIALIZED (
      SELECT coalesce(m.heir, l.owner) AS node, l.owner, m.session IS NOT NULL AND l.owner <> m.heir AS leaves
      FROM uw.lease l LEFT JOIN moving m ON m.session = l.key WHERE l.owner IS NOT NULL OR m.session IS NOT NULL),
    idle AS (
      SELECT l.key, l.owner, row_number() OVER (PARTITION BY l.owner ORDER BY a.ord) AS n
      FROM unnest($1::text[]) WITH ORDINALITY AS a (key, ord) JOIN uw.lease l ON l.key = a.key
      WHERE l.owner <> $2 AND l.owner IN (SELECT id FROM live) AND l.key NOT IN (SELECT session FROM moving)
        AND NOT EXISTS (SELECT FROM uw.message m WHERE m.session = l.key AND m.state IN ('waiting', 'taken'))
        AND NOT EXISTS (SELECT FROM uw.mail x WHERE x.session = l.key AND x.state = 'waiting')
        AND NOT EXISTS (SELECT FROM uw.call c WHERE c.session = l.key AND c.state = 'pending'))
    SELECT NULL AS session, id AS node, waiting > 0 AS waits, coalesce(o.owned, 0) AS owned, coalesce(g.leaving, 0) AS leaving
    FROM live LEFT JOIN (SELECT node, count(*)::integer AS owned FROM placed GROUP BY node) o ON o.node = id
    LEFT JOIN (SELECT owner, count(*)::integer AS leaving FROM placed WHERE leaves GROUP BY owner) g ON g.owner = id
    UNION ALL SELECT key, owner, NULL, NULL, NULL FROM idle WHERE n <= $3`,
};

/** Notes moves to one heir, for so many ms, and forgets those that have run out. */
export const noteMoves: Sql = {
  name: 'note_moves',
  text: `WITH gone AS (
      DELETE FROM uw.move WHERE session IN (
        SELECT session FROM uw.move WHERE until <= clock_timestamp() AND session <> ALL ($1::text[]) FOR UPDATE SKIP LOCKED))
    INSERT INTO uw.move (session, heir, until)
    SELECT session, $2, clock_timestamp() + $3::integer * interval '1 ms' FROM unnest($1::text[]) AS a (session)
    ON CONFLICT (session) DO UPDATE SET heir = excluded.heir, until = excluded.until`,
};

/** Sessions that a node is to give, with their heirs: a value of a renewal. @param owner - an expression of SQL. */
export const movesFrom = (owner: string): string => `(
      SELECT json_agg(json_build_array(m.session, m.heir))::text FROM uw.move m JOIN uw.lease l ON l.key = m.session
      WHERE l.owner = ${owner} AND m.heir <> l.owner AND m.until > clock_timestamp())`;

/**
 * Finds those of the sessions of `w` that are for an heir who lives, if nobody owns them: a common table expression `reserved`. Anybody may take one for
 * which mail waits. @param asker - an expression of SQL.
 */
export const reservedFor = (asker: string): string => `reserved AS MATERIALIZED (
      SELECT m.session, m.heir FROM w JOIN uw.move m ON m.session = w.session JOIN uw.node n ON n.id = m.heir
      WHERE m.heir IS DISTINCT FROM ${asker} AND m.until > clock_timestamp() AND n.expires_at > clock_timestamp()
        AND NOT EXISTS (SELECT FROM uw.mail x WHERE x.session = m.session AND x.state = 'waiting'))`;
