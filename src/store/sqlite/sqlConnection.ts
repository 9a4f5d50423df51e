import { noteOpened } from '../openHere.ts';
import type { Database, SqlRow, SqlValue, Statement } from './database.ts';

/** Parts that both drivers have in common once they are open. */
export interface RawDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): RawStatement;
  close(): unknown;
}

export interface RawStatement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  all(...values: readonly SqlValue[]): unknown[];
  get(...values: readonly SqlValue[]): unknown;
}

/** Our uniform connection over a driver's own. @param path - of its file, or `:memory:` */
export function wrapDatabase(raw: RawDatabase, path: string): Database {
  const statements = new Map<string, Statement>();
  let begin: RawStatement | undefined;
  let commit: RawStatement | undefined;
  const database: Database = {
    exec(sql) {
      raw.exec(sql);
    },
    prepare(sql) {
      let statement = statements.get(sql);
      if (statement === undefined) {
        statement = wrapStatement(raw.prepare(sql));
        statements.set(sql, statement);
      }
      return statement;
    },
    immediate(work) {
      begin ??= raw.prepare('BEGIN IMMEDIATE');
      commit ??= raw.prepare('COMMIT');
      begin.run();
      try {
        const result = work();
        commit.run();
        return result;
      } catch (error) {
        rollBack(raw);
        throw error;
      }
    },
    close() {
      statements.clear();
      begin = undefined;
      commit = undefined;
      raw.close();
      closed();
    },
  };
  const closed = noteOpened(path, database);
  return database;
}

function wrapStatement(raw: RawStatement): Statement {
  return {
    run: (...values) => Number(raw.run(...values).changes),
    all: (...values) => raw.all(...values) as SqlRow[],
    get: (...values) => raw.get(...values) as SqlRow | undefined,
  };
}

// SQLite has rolled back by itself after some errors (full disk, I/O), and says so by refusing.
function rollBack(raw: RawDatabase): void {
  try {
    raw.exec('ROLLBACK');
  } catch {
    // The first error is the one that tells.
  }
}
