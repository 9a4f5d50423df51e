import { PgConnections, type Transaction } from '../../postgres/pgConnections.ts';
import { copiesOf } from '../../postgres/migrate/copies.ts';
import type { PgModule, PgQuery, PgRow } from '../../postgres/pgDriver.ts';
import { preparePgSchema } from '../../postgres/pgSchema.ts';
import { readTarget } from '../../postgres/pgTarget.ts';
import type { Database } from '../../src/store/sqlite/face.ts';
import { findEventTable, hasTable } from '../../src/store/sqlite/face.ts';
import { type Pglite, startPglite } from '../simulation/store/pglite.ts';

export const target = readTarget('postgres://nobody@localhost/fuzz');

/** The driver over a PostgreSQL in this process, which has one session. */
function moduleOf(database: Pglite): PgModule {
  const query = async ({ text, values }: PgQuery): Promise<{ rows: readonly PgRow[] }> => {
    if (values !== undefined && values.length > 0)
      return (await database.query(text, values)) as { rows: readonly PgRow[] };
    const results = (await database.exec(text)) as readonly { rows: readonly PgRow[] }[];
    return { rows: results.at(-1)?.rows ?? [] };
  };
  class Pool {
    connect = () => Promise.resolve({ query, release: () => undefined, on: () => undefined });
    end = () => Promise.resolve();
    on = (): unknown => undefined;
  }
  return { Pool, Client: Pool } as unknown as PgModule;
}

/** A database with the rows of a file, as `unwedge migrate` moves them. */
export async function startPgStore(file: Database): Promise<PgModule> {
  const module = moduleOf(await startPglite());
  const connections = new PgConnections(module, target, 1);
  await preparePgSchema(connections);
  await connections.transaction(async (transaction: Transaction) => {
    for (const { table, write } of copiesOf(findEventTable(file, true).name)) {
      const rows = hasTable(file, table) ? file.prepare(`SELECT * FROM ${table}`).all() : [];
      if (rows.length > 0) await write(transaction, rows);
    }
  });
  return module;
}
