import type { Kept } from '../../sessions/sessionStore.ts';
import type { BatchRows } from './batch.ts';
import { rowsOf, type RowStatement, type Value } from './rowStatement.ts';
import type { Lease } from './leases.ts';
import type { PgRow } from './pgDriver.ts';

/**
 * A write to the rows of sessions, with its fence in the same statement. The row of the lease is locked `FOR SHARE` until the commit, so that a
 * take-over waits for the write, and a write that waited for a take-over sees that it is fenced. (`FOR KEY SHARE` would let a take-over pass.) Whether
 * the node has expired is no matter here: until somebody has taken the session over, it is nobody else's.
 * @param columns - beside `session`, `token` and `lease_id`.
 * @param change - the common table expression `changed`: it writes for the rows of `h`, those of `w` whose lease holds, and gives their `ord` as `o`.
 */
export function fenced(
  name: string,
  columns: string,
  change: string,
  { together = false }: Pick<RowStatement, 'together'> = {},
): RowStatement {
  return {
    name,
    together,
    isFenced: true,
    text: `WITH ${heldRows(columns)},
    ${change}
    SELECT w.ord, h.ord IS NOT NULL AS held, c.o IS NOT NULL AS changed
    FROM w LEFT JOIN h ON h.ord = w.ord LEFT JOIN (SELECT DISTINCT o FROM changed) c ON c.o = w.ord`,
  };
}

/** The rows `w` of a statement that writes to sessions, and of these `h`, whose lease holds. @param columns - as {@link fenced} takes them. */
export const heldRows = (
  columns: string,
): string => `${rowsOf(`session text, token bigint, lease_id uuid, ${columns}`)},
    h AS MATERIALIZED (
      SELECT w.* FROM w JOIN uw.lease l ON l.key = w.session
      WHERE l.token = w.token AND l.lease_id = w.lease_id FOR SHARE OF l)`;

/**
 * The `changed` of an insert: the rows whose key came back from it. As a value of each row, for which the server hashes what came back; a join it
 * would make row by row, as it takes `h` for one row.
 */
export function madeIn(inserted: string, key: string): string {
  const made = `(${key}) IN (SELECT ${key} FROM ${inserted})`;
  return `changed AS (SELECT ord AS o FROM (SELECT ord, ${made} AS made FROM h OFFSET 0) AS each WHERE made)`;
}

/** Writes a row under its lease. @returns what became of it. */
export async function writeFenced(
  batch: BatchRows,
  statement: RowStatement,
  { session, token, leaseId }: Lease,
  values: readonly Value[],
): Promise<Kept> {
  return keptIn(await batch.row(statement, session, [session, token, leaseId, ...values]));
}

function keptIn([row]: readonly PgRow[]): Kept {
  if (row?.['held'] !== true) return 'fenced';
  return row['changed'] === true ? 'durable' : 'volatile';
}
