import type { Kept } from '../src/sessions/sessionStore.ts';
import { checked, counted } from './batchNumber.ts';
import { type BatchRows, keptIn } from './batch.ts';
import type { Lease } from './leases.ts';
import { type Column, columnsOf, type Value } from '../src/store/dialect.ts';
import { type FencedStatement, rowsOf, type RowStatement, unnested } from './rowStatement.ts';

/** An insert of the rows of `h`, those whose lease holds. A row whose key is there already is left out. */
export interface FencedInsert {
  readonly insert: string;
  /** The columns that tell rows from each other. */
  readonly key: string;
}

/**
 * @param columns - beside `session`: `name type` of each, parted by commas.
 * @param change - an insert, or common table expressions up to `changed`, which writes for the rows of `h` and gives their `ord` as `o`.
 */
export function fenced(
  name: string,
  columns: string,
  change: string | FencedInsert,
  { together = false }: Pick<RowStatement, 'together'> = {},
): FencedStatement {
  const row = columnsOf(`session text, ${columns}`);
  return {
    name,
    together,
    isFenced: true,
    text: `WITH ${heldRows(columns)},
    ${typeof change === 'string' ? change : `${inserted(change, change.key)}, ${madeIn('inserted', change.key)}`}
    SELECT w.ord, h.ord IS NOT NULL AS held, c.o IS NOT NULL AS changed
    FROM w LEFT JOIN h ON h.ord = w.ord LEFT JOIN (SELECT DISTINCT o FROM changed) c ON c.o = w.ord`,
    one: { name: `${name}_one`, text: one(row, change) },
    many: { name: `${name}_many`, text: many(row, change) },
  };
}

/** The rows `w` of a statement that writes to sessions, and of these `h`, whose lease holds. @param columns - as {@link fenced} takes them. */
export function heldRows(columns: string): string {
  return `${rowsOf(`session text, token bigint, lease_id uuid, ${columns}`)},
    h AS MATERIALIZED (SELECT w.* FROM w JOIN uw.lease l ON l.key = w.session WHERE ${holds('w')} FOR SHARE OF l)`;
}

function one(row: readonly Column[], change: string | FencedInsert): string {
  const values = row.map(({ name, type }, index) => `$${index + 3}::${type} AS ${name}`).join(', ');
  return `WITH f AS (SELECT $3::text AS session, $1::bigint AS token, $2::uuid AS lease_id),
    held AS (SELECT FROM f JOIN uw.lease l ON l.key = f.session WHERE ${holds('f')} FOR SHARE OF l),
    ${counted(row.length + 3, 'EXISTS (SELECT FROM held)')},
    h AS (SELECT ${values}, 1 AS ord WHERE EXISTS (SELECT FROM counted)),
    ${written(change)}
    ${checked('changed', '1')}`;
}

/** The leases are locked in the order of their keys, as renewals do: else the two could wait for each other. */
function many(row: readonly Column[], change: string | FencedInsert): string {
  const writer = row.length + 4;
  const all = '(SELECT count(*) FROM held) = cardinality($1::text[])';
  return `WITH held AS (
      SELECT FROM ${unnested(columnsOf('session text, token bigint, lease_id uuid'), 1, 'f')}
      JOIN uw.lease l ON l.key = f.session WHERE ${holds('f')} ORDER BY l.key FOR SHARE OF l),
    ${counted(writer, all)},
    h AS (
      SELECT * FROM ${unnested(row, 4, 'h')}
      WHERE CASE WHEN $${writer} IS NULL THEN ${all} ELSE EXISTS (SELECT FROM counted) END),
    ${written(change)}
    ${checked('changed', 'cardinality($4::text[])')}`;
}

/**
 * Asks whether the lease `l` is the one that `row` was written under. It is no matter here whether the node has expired: until somebody has taken the session
 * over, it is nobody else's.
 */
function holds(row: string): string {
  return `l.token = ${row}.token AND l.lease_id = ${row}.lease_id`;
}

function written(change: string | FencedInsert): string {
  return typeof change === 'string' ? change : `${inserted(change, '1')}, changed AS (SELECT FROM inserted)`;
}

function inserted({ insert }: FencedInsert, returned: string): string {
  return `inserted AS (${insert} ON CONFLICT DO NOTHING RETURNING ${returned})`;
}

/**
 * The `changed` of an insert: the rows whose key came back from it. As a value of each row, for which the server hashes what came back; a join it
 * would make row by row, as it takes `h` for one row.
 */
function madeIn(from: string, key: string): string {
  const made = `(${key}) IN (SELECT ${key} FROM ${from})`;
  return `changed AS (SELECT ord AS o FROM (SELECT ord, ${made} AS made FROM h OFFSET 0) AS each WHERE made)`;
}

/** Writes a row under its lease. @returns what became of it. */
export async function writeFenced(
  batch: Pick<BatchRows, 'row'>,
  statement: FencedStatement,
  { session, token, leaseId }: Lease,
  values: readonly Value[],
): Promise<Kept> {
  return keptIn(await batch.row(statement, session, [session, token, leaseId, ...values]));
}
