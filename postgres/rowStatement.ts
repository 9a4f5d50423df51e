import { type Column, columnsOf } from '../src/store/face.ts';
import type { Sql } from './pgConnections.ts';

/** A statement over many rows at once: each column of the rows is one array. */
export interface RowStatement extends Sql {
  /** Lets rows of one key be in the same statement: they do not touch each other. @defaultValue false */
  readonly together?: boolean | undefined;
  /** True where the key is that of a lease, which the statement locks. @defaultValue false */
  readonly isFenced?: boolean | undefined;
  /** Statements on rows that all nodes write come last, in this order, so that two nodes do not wait for each other. @defaultValue 0 */
  readonly rank?: number | undefined;
}

/**
 * A write to the rows of sessions, with its fence in the same statement. The row of the lease is locked `FOR SHARE` until the commit, so that a
 * take-over waits for the write, and a write that waited for a take-over sees that it is fenced. (`FOR KEY SHARE` would let a take-over pass.)
 *
 * It has three forms. The statement itself answers for each row. The two others are for transactions whose answers nobody waits for before they
 * commit: they fail, and with them the transaction, unless every row is written.
 */
export interface FencedStatement extends RowStatement {
  readonly isFenced: true;
  /** Writes one row, in a transaction that is this statement alone: token and id of the lease, the row, then the batch that it counts. */
  readonly one: Sql;
  /**
   * Many rows: sessions, tokens and ids of their leases, each once, then the rows, then the batch. With one it is a transaction by itself, as it
   * counts that; with nulls it is a part of one.
   */
  readonly many: Sql;
}

/**
 * The rows that a statement takes, as `w` with the place of each as `ord`.
 * @param columns - `name type` of each, parted by commas.
 */
export function rowsOf(columns: string | readonly Column[]): string {
  const given = typeof columns === 'string' ? columnsOf(columns) : columns;
  return `w AS MATERIALIZED (SELECT * FROM ${unnested(given, 1, 'w')})`;
}

/** Rows that come as arrays, with the place of each as `ord`. @param first - the number of the first array among the values of the statement. */
export function unnested(columns: readonly Column[], first: number, as: string): string {
  const arrays = columns.map(({ type }, index) => `$${first + index}::${type}[]`).join(', ');
  const names = columns.map(({ name }) => name).join(', ');
  return `unnest(${arrays}) WITH ORDINALITY AS ${as} (${names}, ord)`;
}
