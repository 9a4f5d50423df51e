import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Database, type Driver, codeOf } from '../../src/store/sqlite/face.ts';

/** Time that a reader waits for a lock, in ms. Readers are short-lived processes that have nothing else to do. */
const busyTimeoutMs = 5_000;

/**
 * Opens a database that nothing can be written to. A read-only connection to a WAL database leaves its -wal and -shm files behind; one that may
 * write but does not, removes them. It must not where a process has them in use whose locks do not show, as that of an earlier version.
 * @throws what SQLite reports.
 */
export function openQueryOnly(driver: Driver, path: string): Database {
  const isInUse = existsSync(`${path}-shm`);
  try {
    return queryOnly(driver.open(path, { busyTimeoutMs, readOnly: isInUse }));
  } catch {
    try {
      return queryOnly(driver.open(path, { busyTimeoutMs, readOnly: !isInUse }));
    } catch (error) {
      const copy = unwritable.has(codeOf(error)) ? openCopy(driver, path) : undefined;
      if (copy === undefined) throw error;
      return copy;
    }
  }
}

/** Codes of SQLite where it cannot make the files of a WAL database beside it. */
const unwritable: ReadonlySet<string> = new Set(['SQLITE_READONLY', 'SQLITE_CANTOPEN']);

/**
 * Reads a copy: in a directory where nothing can be written nobody writes the database meanwhile, and not every driver can open one as immutable.
 * The copy is gone when the connection is closed. @returns undefined where there is nothing to copy, or no place for it.
 */
function openCopy(driver: Driver, path: string): Database | undefined {
  let directory: string | undefined;
  const remove = (): void => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  };
  try {
    directory = mkdtempSync(join(tmpdir(), 'unwedge-read-'));
    const copy = join(directory, basename(path));
    for (const suffix of ['', '-wal']) {
      if (suffix !== '' && !existsSync(path + suffix)) continue;
      copyFileSync(path + suffix, copy + suffix);
      chmodSync(copy + suffix, 0o600);
    }
    const database = queryOnly(driver.open(copy, { busyTimeoutMs }));
    return {
      exec: (sql) => database.exec(sql),
      prepare: (sql) => database.prepare(sql),
      immediate: (work) => database.immediate(work),
      close: () => {
        database.close();
        remove();
      },
    };
  } catch {
    remove();
    return undefined;
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
