import { closeSync, existsSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from '../../actors/process/makeDirectory.ts';
import type { Database, Driver } from './database.ts';
import { LogMark } from './logMark.ts';
import { refuseOlderRunsOf } from './olderRuns.ts';
import { isOutdated, prepareSchema, type Schema } from './schema.ts';
import { identityOf } from './sqlConnection.ts';
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

/** State of a database and its log after our last use of them. */
interface FileMarks {
  readonly size: number;
  /** Undefined without a log: another journal mode, or nothing was written yet. */
  readonly log: { readonly dev: number; readonly ino: number; readonly size: number } | undefined;
  /** Changes when another connection commits, or begins the log anew. */
  readonly dataVersion: unknown;
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
      const found = opened && statSync(path, quietly);
      if (opened !== undefined && (found === undefined || identityOf(found) !== opened.identity)) {
        // On a deleted file SQLite goes on writing into nowhere without an error.
        close();
        last = '';
        throw new FileGoneError();
      }
      if (opened !== undefined && isCut(opened.database, path, found?.size ?? 0, opened.marks)) {
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
  const found = statSync(path, quietly);
  if (found === undefined) closeSync(openSync(path, 'a', 0o600));
  // SQLite would say only that it cannot open it.
  else if (found.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  return found !== undefined && found.size > 0;
}

function identify(path: string): string {
  const stat = statSync(path, quietly);
  return stat === undefined ? 'gone' : identityOf(stat);
}

const quietly = { throwIfNoEntry: false } as const;

function markFiles(database: Database, path: string): FileMarks {
  const log = statSync(`${path}-wal`, quietly);
  return {
    size: statSync(path, quietly)?.size ?? 0,
    log: log === undefined ? undefined : { dev: log.dev, ino: log.ino, size: log.size },
    dataVersion: dataVersionOf(database),
  };
}

/**
 * Tells whether somebody cut or replaced the files under an open database. SQLite writes on behind the cut without an error, and what it writes there is
 * lost. A log that another connection begins anew shrinks too, but that connection changes the data version.
 */
function isCut(database: Database, path: string, current: number, { size, log, dataVersion }: FileMarks): boolean {
  const now = statSync(`${path}-wal`, quietly);
  if (log !== undefined && (now === undefined || now.dev !== log.dev || now.ino !== log.ino)) return true;
  const logShrank = log !== undefined && now !== undefined && now.size < log.size;
  const fileShrank = current < size && current < pagesOf(database);
  return (logShrank || fileShrank) && dataVersionOf(database) === dataVersion;
}

/** Moves a database and its log out of the way, so that nothing more is written to them. @returns where to. @throws what the file system reports. */
function setAside(path: string): string {
  let number = 1;
  while (existsSync(`${path}.damaged-${number}`)) number++;
  const aside = `${path}.damaged-${number}`;
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}

/** Changes with each commit of another connection, and with none of this one. */
export function dataVersionOf(database: Database): unknown {
  return database.prepare('PRAGMA data_version').get()?.['data_version'];
}

/** Computes what the file has to hold once the log is in it, in bytes. */
function pagesOf(database: Database): number {
  const value = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return value('page_count') * value('page_size');
}

function closeQuietly(database: Database): void {
  try {
    database.close();
  } catch {
    // Closing is the last thing asked of it; what it could not finish, SQLite finishes at the next opening.
  }
}
