import { existsSync } from 'node:fs';
import type { Database, Driver, DriverLoader } from './database.ts';
import { findDriver } from './driver.ts';
import { findEventTable, isOurs } from './schema.ts';

/** How long a reader waits for a lock, in ms. Readers are short-lived processes that have nothing else to do. */
const busyTimeoutMs = 5_000;

/** A database opened for reading. */
export interface DatabaseReader {
  readonly path: string;
  readonly database: Database;
  readonly eventTable: string;
  close(): void;
}

/**
 * Opens a database for reading; nothing is created or changed.
 * @param path - as `storePath` gives it.
 * @throws an Error that names the path and what to do when there is nothing to read.
 */
export async function openReader(path: string, loaders?: readonly DriverLoader[]): Promise<DatabaseReader> {
  if (path === ':memory:') throw new Error('A database in memory can be read by its own process only');
  if (!existsSync(path)) throw new Error(`No database at ${path}; nothing has been recorded there yet`);
  const found = await findDriver(loaders);
  if (!found.ok) throw new Error(`Cannot read ${path}: ${found.reason}. Fix: ${found.fix}.`);
  let database: Database | undefined;
  try {
    database = openQueryOnly(found.driver, path);
    const { name, exists } = findEventTable(database, isOurs(database));
    if (!exists) throw new Error('it holds no events of unwedge');
    const opened = database;
    return { path, database: opened, eventTable: name, close: () => opened.close() };
  } catch (error) {
    database?.close();
    throw new Error(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

// A read-only connection to a WAL database leaves its -wal and -shm files behind; one that may write but does not, removes them.
function openQueryOnly(driver: Driver, path: string): Database {
  try {
    return queryOnly(driver.open(path, { busyTimeoutMs }));
  } catch {
    return queryOnly(driver.open(path, { busyTimeoutMs, readOnly: true }));
  }
}

function queryOnly(database: Database): Database {
  try {
    database.exec('PRAGMA query_only = ON');
    // Opening is lazy; only reading shows whether this is a database.
    database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
