import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database, Driver } from './database.ts';
import { prepareSchema, type Schema } from './schema.ts';
import { diagnose, FileGoneError } from './trouble.ts';

/**
 * How long one statement may block the event loop on a lock, in ms. In a database without WAL a transaction can wait twice, at
 * its begin for writers and at its commit for readers; on a loaded machine each sleep takes longer. Together they stay below
 * the 20 ms of O-1; a writer that takes longer is waited for off the loop.
 */
const defaultLockWaitMs = 5;

/** A database that is opened when it is used, and opened again after it failed. */
export interface Connection {
  /**
   * Runs `work` on the open database, opening it first where needed. A failure other than a lock or a refused row closes it.
   * @throws what the file system or SQLite reports; {@link diagnose} reads it.
   */
  use<T>(work: (database: Database, schema: Schema) => T): T;
  /** Never throws. */
  close(): void;
}

interface Opened {
  readonly database: Database;
  readonly schema: Schema;
  /** Device and inode, by which a file is known again. */
  readonly identity: string;
}

/**
 * @param path - absolute.
 * @param lockWaitMs - how long one statement may block the event loop on a lock.
 */
export function createConnection(
  driver: Driver,
  path: string,
  synchronous: 'NORMAL' | 'FULL',
  lockWaitMs = defaultLockWaitMs,
): Connection {
  let opened: Opened | undefined;

  function open(): Opened {
    createPrivateFile(path);
    const database = driver.open(path, { busyTimeoutMs: lockWaitMs });
    try {
      return { database, schema: prepareSchema(database, synchronous), identity: identify(path) };
    } catch (error) {
      closeQuietly(database);
      throw error;
    }
  }

  function close(): void {
    if (opened !== undefined) closeQuietly(opened.database);
    opened = undefined;
  }

  return {
    use(work) {
      if (opened !== undefined && identify(path) !== opened.identity) {
        // On a deleted file SQLite goes on writing into nowhere without an error.
        close();
        throw new FileGoneError();
      }
      opened ??= open();
      try {
        return work(opened.database, opened.schema);
      } catch (error) {
        const { busy, refusedRow } = diagnose(error, path);
        if (!busy && !refusedRow) close();
        throw error;
      }
    },
    close,
  };
}

// SQLite gives its -wal and -shm files the mode of the database.
function createPrivateFile(path: string): void {
  makeDirectory(dirname(path));
  closeSync(openSync(path, 'a', 0o600));
}

/** Node's own recursion never ends where a directory cannot be made though its parent is there, as in `/proc`. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  if (dirname(path) !== path) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(path)) throw error;
  }
}

function identify(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}

function closeQuietly(database: Database): void {
  try {
    database.close();
  } catch {
    // Closing is the last thing asked of it; what it could not finish, SQLite finishes at the next opening.
  }
}
