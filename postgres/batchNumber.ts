import type { Sql } from './pgConnections.ts';

/**
 * Counts a batch of a writer: its id, then the number. No row: this one was committed before, though nobody heard of it. A commit that is still under
 * way is waited for.
 */
export const countBatch: Sql = {
  name: 'count_batch',
  text: `INSERT INTO uw.writer AS k (id, batch) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET batch = $2, at = clock_timestamp() WHERE k.batch < $2 RETURNING 1`,
};

/** The same for a writer that has a row; fails where {@link countBatch} has no row. */
export const countAtOnce: Sql = {
  name: 'count_batch_at_once',
  text: `WITH ${counted(1, 'true')} ${checked('counted', '1')}`,
};

/**
 * Counts a batch within the statement that is all of it, as `counted`: a statement that comes late, after its batch was sent again over another
 * connection, writes nothing.
 * @param first - the number of the first of its two values: id of the writer, number of the batch.
 */
export function counted(first: number, condition: string): string {
  const [id, batch] = [`$${first}`, `$${first + 1}`];
  return `counted AS (
      UPDATE uw.writer SET batch = ${batch}, at = clock_timestamp() WHERE id = ${id} AND batch < ${batch} AND ${condition} RETURNING 1)`;
}

/** The end of a statement that fails unless `from` has so many rows; it answers with none. The text is for whoever reads the log of the server. */
export function checked(from: string, rows: string): string {
  const told = `'unwedge: not all rows of a batch can be written; it is tried row by row'`;
  return `SELECT FROM ${from} HAVING (CASE WHEN count(*) = ${rows} THEN '0' ELSE ${told} END)::integer = 1`;
}
