import { boundedJson } from '../../policy/text/storedJson.ts';
import type { PersistedBreaker } from '../../policy/records/persistedBreaker.ts';
import { insertInto, statement } from '../dialect.ts';

const order = { rank: 1 };
const kept = `name text, state text, opened_at bigint, open_until bigint, last_open_ms bigint, openings integer, failures integer,
  generation bigint, cause text`;
/** By it other nodes find what has changed. */
const touched = '{, xid = pg_current_xact_id()|}';
/** The circuit is the one that was counted for, and closed. */
const isSame = `WHERE b.generation = excluded.generation AND b.state = 'closed'`;
const inClosed = (column: string): string =>
  `${column} = CASE excluded.state WHEN 'closed' THEN NULL ELSE b.${column} END`;

/** Ends the lease, too. A row of a higher generation stays as it is. */
export const saveBreaker = statement(
  'save_breaker',
  kept,
  insertInto(
    'uw.breaker AS b',
    kept,
    `ON CONFLICT (name) DO UPDATE SET state = excluded.state, opened_at = excluded.opened_at, open_until = excluded.open_until,
       last_open_ms = excluded.last_open_ms, openings = excluded.openings, failures = excluded.failures,
       generation = excluded.generation, cause = excluded.cause, lease_until = NULL, lease_owner = NULL,
       ${inClosed('paused_at')}, ${inClosed('paused_until')}${touched}
     WHERE excluded.generation >= b.generation`,
    'name',
  ),
  order,
);
/** Adds to what others have counted, in one statement. In a file it answers: without a row the circuit is of another generation, or open. */
export const countFailures = statement(
  'count_failures',
  'name text, generation bigint',
  `INSERT INTO uw.breaker AS b (name, generation, failures)
   {SELECT name, max(generation), count(*) FROM w GROUP BY name, generation HAVING generation = (
      SELECT max(generation) FROM w o WHERE o.name = w.name) ORDER BY name|VALUES (:name, :generation, 1)}
   ON CONFLICT (name) DO UPDATE SET failures = b.failures + excluded.failures${touched} ${isSame} {|RETURNING failures}`,
  { ...order, together: true },
);
const failures = 'name text, generation bigint, failures integer';
export const setFailures = statement(
  'set_failures',
  failures,
  insertInto(
    'uw.breaker AS b',
    failures,
    `ON CONFLICT (name) DO UPDATE SET failures = excluded.failures${touched} ${isSame}`,
    'name',
  ),
  order,
);
const pause = 'name text, paused_at bigint, paused_until bigint';
/** A pause that was told later may end earlier; the later end counts. */
export const pauseBreaker = statement(
  'pause_breaker',
  pause,
  insertInto(
    'uw.breaker AS b',
    pause,
    `ON CONFLICT (name) DO UPDATE SET paused_at = excluded.paused_at, paused_until = excluded.paused_until${touched}
     WHERE b.paused_until IS NULL OR b.paused_until < excluded.paused_until`,
    'name',
  ),
  order,
);
/**
 * One fenced UPDATE, so that of all processes one wins. Times too far ahead to be true are those of a wall clock that has stepped back since; they must
 * not block probes for as long as the step was.
 */
export const claimProbe = statement(
  'claim_probe',
  'name text, owner text, now bigint, lease_ms bigint, generation bigint',
  `UPDATE uw.breaker AS b SET lease_owner = :owner, lease_until = :now + :lease_ms${touched} {FROM w |}WHERE b.name = :name
     AND (b.lease_until IS NULL OR b.lease_owner = :owner OR b.lease_until <= :now OR b.lease_until > :now + 2 * :lease_ms)
     AND (b.generation <= :generation OR b.state = 'closed' OR b.open_until <= :now OR b.open_until > :now + b.last_open_ms)
   {|RETURNING name}`,
  order,
);
export const releaseProbe = statement(
  'release_probe',
  'name text, owner text',
  `UPDATE uw.breaker AS b SET lease_owner = NULL, lease_until = NULL${touched}
   {FROM w |}WHERE b.name = :name AND b.lease_owner = :owner`,
  order,
);

/** The row of a breaker. */
export function breakerRow(name: string, { cause, ...breaker }: PersistedBreaker): object {
  return { name, ...breaker, cause: cause === undefined ? null : boundedJson({ ...cause }) };
}
