import type { Sql } from './pgConnections.ts';

/** A statement over many rows at once: each column of the rows is one array. */
export interface RowStatement extends Sql {
  /** Whether rows of one key may be in the same statement: they do not touch each other. @defaultValue false */
  readonly together?: boolean | undefined;
  /** Whether the key is that of a lease, which the statement locks. @defaultValue false */
  readonly isFenced?: boolean | undefined;
  /** Statements on rows that all nodes write come last, in this order, so that two nodes do not wait for each other. @defaultValue 0 */
  readonly rank?: number | undefined;
}

/** A value of a column. */
export type Value = string | number | boolean | null;

/**
 * The rows that a statement takes, as `w` with the place of each as `ord`.
 * @param columns - `name type` of each, parted by commas.
 */
export function rowsOf(columns: string): string {
  const parts = columns.split(',').map((column) => column.trim().split(/\s+/));
  const arrays = parts.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
  const names = parts.map(([name]) => name).join(', ');
  return `w AS MATERIALIZED (SELECT * FROM unnest(${arrays}) WITH ORDINALITY AS w (${names}, ord))`;
}
