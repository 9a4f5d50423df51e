import type { Database, Driver } from './database.ts';

/** How long a reader waits for a lock, in ms. Readers are short-lived processes that have nothing else to do. */
const busyTimeoutMs = 5_000;

/**
 * Opens a database that nothing can be written to. A read-only connection to a WAL database leaves its -wal and -shm files behind; one that may
 * write but does not, removes them.
 * @throws what SQLite reports.
 */
export function openQueryOnly(driver: Driver, path: string): Database {
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
