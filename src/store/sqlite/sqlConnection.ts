import { type Stats, statSync } from 'node:fs';
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

/** Number of connections of this process that have a database open, by the identity of its file. */
const connections = new Map<string, number>();

const dropped = new FinalizationRegistry<() => void>((takeBack) => takeBack());

/** Device and inode, by which a file is known again. */
export function identityOf(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}

/**
 * Notes that this process has opened the database at `path`. Whoever reads a file has to ask {@link isOpenHere} first: to close any
 * descriptor of a file takes all locks off it that its process has (POSIX). Another process then takes itself for the only one that has
 * the database open, and deletes its log at the end.
 * @param connection - one that nobody has any more is closed by its driver, and its note goes with it: the file system gives inodes out again.
 * @returns takes the note back, when the connection is closed.
 */
export function noteOpened(path: string, connection: object): () => void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return () => undefined;
  const identity = identityOf(stats);
  connections.set(identity, (connections.get(identity) ?? 0) + 1);
  let isNoted = true;
  const takeBack = (): void => {
    if (!isNoted) return;
    isNoted = false;
    const left = (connections.get(identity) ?? 0) - 1;
    if (left > 0) connections.set(identity, left);
    else connections.delete(identity);
  };
  dropped.register(connection, takeBack);
  return takeBack;
}

/** Tells whether a connection of this process has the file open. */
export const isOpenHere = (stats: Stats): boolean => connections.has(identityOf(stats));
