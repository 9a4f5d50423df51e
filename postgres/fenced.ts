import type { Kept } from '../src/sessions/face.ts';
import { checked, counted } from './batchNumber.ts';
import { type BatchRows, keptIn } from './batch.ts';
import type { Lease } from './leases.ts';
import { type Column, type RowStep, type Statement, type Value, columnsOf, written } from '../src/store/face.ts';
import { type FencedStatement, unnested } from './rowStatement.ts';

/** An insert of rows under leases, and the columns that tell them from each other. */
interface FencedInsert {
  readonly insert: string;
  readonly key: string;
}

const known = new WeakMap<Statement, FencedStatement>();

/** A write of the ledger, made under the lease of each row. */
export function underLease(statement: Statement): FencedStatement {
  const made = known.get(statement) ?? fencedOf(statement);
  known.set(statement, made);
  return made;
}

function fencedOf({ name, columns, text, together, key }: Statement): FencedStatement {
  const change = written(text, 'server', (value) => `w.${value}`);
  if (key !== undefined) return fencedRows(name, columns, { insert: change, key }, together);
  const whole = change.includes('changed AS (') ? change : `changed AS (${change} RETURNING w.ord AS o)`;
  return fencedRows(name, columns, whole, together);
}

/**
 * A write that a file has in another form.
 * @param columns - beside `session`: `name type` of each, parted by commas.
 * @param change - common table expressions up to `changed`, which writes for the rows of `w` and gives their `ord` as `o`.
 */
export function fenced(name: string, columns: string, change: string, together = false): FencedStatement {
  return fencedRows(name, columnsOf(`session text, ${columns}`), change, together);
}

function fencedRows(
  name: string,
  row: readonly Column[],
  change: string | FencedInsert,
  together = false,
): FencedStatement {
  return {
    name,
    together,
    isFenced: true,
    text: `WITH ${heldRows(row)},
    ${typeof change === 'string' ? change : `${inserted(change, change.key)}, ${madeIn('inserted', change.key)}`}
    SELECT r.ord, w.ord IS NOT NULL AS held, c.o IS NOT NULL AS changed
    FROM r LEFT JOIN w ON w.ord = r.ord LEFT JOIN (SELECT DISTINCT o FROM changed) c ON c.o = r.ord`,
    one: { name: `${name}_one`, text: one(row, change) },
    many: { name: `${name}_many`, text: many(row, change) },
  };
}

/** The rows `r` of a statement that writes to sessions, and of these `w`, whose lease holds. @param columns - the first is `session`. */
export function heldRows([session, ...columns]: readonly Column[]): string {
  const all = [...(session === undefined ? [] : [session]), ...columnsOf('token bigint, lease_id uuid'), ...columns];
  return `r AS MATERIALIZED (SELECT * FROM ${unnested(all, 1, 'r')}),
    w AS MATERIALIZED (SELECT r.* FROM r JOIN uw.lease l ON l.key = r.session WHERE ${holds('r')} FOR SHARE OF l)`;
}

function one(row: readonly Column[], change: string | FencedInsert): string {
  const values = row.map(({ name, type }, index) => `$${index + 3}::${type} AS ${name}`).join(', ');
  return `WITH f AS (SELECT $3::text AS session, $1::bigint AS token, $2::uuid AS lease_id),
    held AS (SELECT FROM f JOIN uw.lease l ON l.key = f.session WHERE ${holds('f')} FOR SHARE OF l),
    ${counted(row.length + 3, 'EXISTS (SELECT FROM held)')},
    w AS (SELECT ${values}, 1 AS ord WHERE EXISTS (SELECT FROM counted)),
    ${changed(change)}
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
    w AS (
      SELECT * FROM ${unnested(row, 4, 'w')}
      WHERE CASE WHEN $${writer} IS NULL THEN ${all} ELSE EXISTS (SELECT FROM counted) END),
    ${changed(change)}
    ${checked('changed', 'cardinality($4::text[])')}`;
}

/**
 * Asks whether the lease `l` is the one that `row` was written under. It is no matter here whether the node has expired: until somebody has taken the session
 * over, it is nobody else's.
 */
function holds(row: string): string {
  return `l.token = ${row}.token AND l.lease_id = ${row}.lease_id`;
}

function changed(change: string | FencedInsert): string {
  return typeof change === 'string' ? change : `${inserted(change, '1')}, changed AS (SELECT FROM inserted)`;
}

function inserted({ insert }: FencedInsert, returned: string): string {
  return `inserted AS (${insert} ON CONFLICT DO NOTHING RETURNING ${returned})`;
}

/**
 * The `changed` of an insert: the rows whose key came back from it. As a value of each row, for which the server hashes what came back; a join it
 * would make row by row, as it takes `w` for one row.
 */
function madeIn(from: string, key: string): string {
  const made = `(${key}) IN (SELECT ${key} FROM ${from})`;
  return `changed AS (SELECT ord AS o FROM (SELECT ord, ${made} AS made FROM w OFFSET 0) AS each WHERE made)`;
}

/** Writes a row under its lease. @returns what became of it. */
export function writeFenced(
  batch: Pick<BatchRows, 'row'>,
  { statement, values }: RowStep,
  lease: Lease,
): Promise<Kept> {
  return askFenced(batch, underLease(statement), lease, values.slice(1));
}

/** The same of a write that a file has in another form. */
export async function askFenced(
  batch: Pick<BatchRows, 'row'>,
  statement: FencedStatement,
  { session, token, leaseId }: Lease,
  values: readonly Value[],
): Promise<Kept> {
  return keptIn(await batch.row(statement, session, [session, token, leaseId, ...values]));
}
