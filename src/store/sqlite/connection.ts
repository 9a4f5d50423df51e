import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../../actors/process/makeDirectory.ts';
import type { Database, Driver } from './database.ts';
import { identityOf } from '../openHere.ts';
import { type FileMarks, isCut, markFiles, setAside } from './fileMarks.ts';
import { LogMark } from './logMark.ts';
import { refuseOlderRunsOf } from './olderRuns.ts';
import { isOutdated, prepareSchema, type Schema } from './schema.ts';
import { diagnose, FileDamagedError, FileGoneError } from './trouble.ts';

/**
 * Time that one statement may block the event loop on a lock, in ms. In a database without WAL a transaction can wait twice, at its begin for writers and at
 * its commit for readers; on a loaded machine each sleep takes longer. Together they stay below the 20 ms of O-1; a writer that takes longer is waited for
 * off the loop.
 */
const defaultLockWaitMs = 5;

/** A database that is opened when it is used, and opened again after it failed. */
export interface Connection {
  /** Number of times the file in use has been found to be another one than before; the rows of that one are not in it. */
  readonly generation: number;
  /** Mark of what is acknowledged in it. */
  readonly mark: Pick<LogMark, 'lost' | 'untold' | 'enter'>;
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
  readonly identity: string;
  marks: FileMarks;
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
  /** By which the file is known that was in use last; empty once it was lost. */
  let last: string | undefined;
  let generation = 0;
  const mark = new LogMark(path);

  function open(): Opened {
    const wasThere = createPrivateFile(path);
    refuseOlderRunsOf(driver, path, isOutdated);
    const database = driver.open(path, { busyTimeoutMs: lockWaitMs });
    try {
      const schema = prepareSchema(database, synchronous);
      const identity = identify(path);
      // A file with the identity of the last may be made anew where that was.
      if (last !== undefined && (identity !== last || schema.isNew)) generation++;
      // That one of a run was lost, and what it had, is told by the run.
      mark.opened(database, wasThere && last !== '');
      last = identity;
      return { database, schema, identity, marks: markFiles(database, path) };
    } catch (error) {
      closeQuietly(database);
      throw error;
    }
  }

  function close(): void {
    if (opened === undefined) return;
    closeQuietly(opened.database);
    opened = undefined;
    mark.closed();
  }

  return {
    mark,
    get generation() {
      return generation;
    },
    use(work) {
      if (opened !== undefined && identify(path) !== opened.identity) {
        // On a deleted file SQLite goes on writing into nowhere without an error.
        close();
        last = '';
        throw new FileGoneError();
      }
      if (opened !== undefined && isCut(opened.database, path, opened.marks)) {
        // Moved first: of a file that is not at its path SQLite writes nothing back when it is closed. That of somebody else is not ours to move.
        const aside = opened.schema.ours ? setAside(path) : undefined;
        close();
        last = '';
        throw new FileDamagedError(aside);
      }
      opened ??= open();
      try {
        const result = work(opened.database, opened.schema);
        opened.marks = markFiles(opened.database, path);
        return result;
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
/** @returns whether anything was in it. */
function createPrivateFile(path: string): boolean {
  makeDirectory(dirname(path));
  // To close a file that is there would take the locks off it that another database of this process has.
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) closeSync(openSync(path, 'a', 0o600));
  // SQLite would say only that it cannot open it.
  else if (found.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  return found !== undefined && found.size > 0;
}

function identify(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 'gone' : identityOf(stat);
}

function closeQuietly(database: Database): void {
  try {
    database.close();
  } catch {
    // Closing is the last thing asked of it; what it could not finish, SQLite finishes at the next opening.
  }
}
