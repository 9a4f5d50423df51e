import { existsSync, renameSync, statSync } from 'node:fs';
import type { Database } from './database.ts';

/** State of a database and its log after our last use of them. */
export interface FileMarks {
  readonly size: number;
  /** Undefined without a log: another journal mode, or nothing was written yet. */
  readonly log: { readonly dev: number; readonly ino: number; readonly size: number } | undefined;
  /** Changes when another connection commits, or begins the log anew. */
  readonly dataVersion: unknown;
}

const quietly = { throwIfNoEntry: false } as const;

export function markFiles(database: Database, path: string): FileMarks {
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
export function isCut(database: Database, path: string, { size, log, dataVersion }: FileMarks): boolean {
  const now = statSync(`${path}-wal`, quietly);
  if (log !== undefined && (now === undefined || now.dev !== log.dev || now.ino !== log.ino)) return true;
  const logShrank = log !== undefined && now !== undefined && now.size < log.size;
  const current = statSync(path, quietly)?.size ?? 0;
  const fileShrank = current < size && current < pagesOf(database);
  return (logShrank || fileShrank) && dataVersionOf(database) === dataVersion;
}

/** Moves a database and its log out of the way, so that nothing more is written to them. @returns where to. @throws what the file system reports. */
export function setAside(path: string): string {
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
