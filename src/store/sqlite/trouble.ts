import type { Trouble } from '../outage.ts';
import { messageOf } from '../../policy/failures/thrown.ts';
import { contentsOf } from '../contentsOf.ts';

/** Trouble with a database. */
export interface SqliteTrouble extends Trouble {
  /** The row is at fault, not the file: the database refuses it whenever it comes. */
  readonly refusedRow: boolean;
}

/** The open file is no longer the one at its path. */
export class FileGoneError extends Error {
  readonly code = 'UNWEDGE_FILE_GONE';
  constructor() {
    super('the file was deleted or replaced while it was open');
  }
}

/** The open file, or its log, was cut or replaced; one that is ours alone is out of the way now. */
export class FileDamagedError extends Error {
  readonly code = 'UNWEDGE_FILE_DAMAGED';

  /** @param aside - where it is; undefined for one that was not moved. */
  constructor(aside: string | undefined) {
    const now = aside === undefined ? 'left where it is, as it is not of unwedge alone' : `set aside as ${aside}`;
    super(`the file or its log was cut, deleted or replaced while it was open; it was ${now}`);
  }
}

/** Written by a newer version of this package. */
export class NewerSchemaError extends Error {
  readonly code = 'UNWEDGE_NEWER_SCHEMA';
  constructor(found: number, known: number) {
    super(`the schema has version ${found}, this version of unwedge knows ${known}`);
  }
}

/** Written by a build from before the first release, whose tables are others. Nothing of the file is changed. */
export class OlderSchemaError extends Error {
  readonly code = 'UNWEDGE_OLDER_SCHEMA';
  constructor(found: number, oldest: number) {
    super(
      `the schema has version ${found}, of a build from before the first release; the oldest that is understood is ${oldest}`,
    );
  }
}

/** Error of a file whose content is in a database now; this stands in its place. */
export class MovedError extends Error {
  readonly code = 'UNWEDGE_MOVED';

  /** @param place - where it is, without a password. @param at - wall time in ms. */
  constructor(place: string, at: number) {
    super(`what was in this file was moved to ${place} on ${new Date(at).toISOString().slice(0, 10)}`);
  }
}

/** Names of SQLite's primary result codes, for drivers that give numbers. */
const sqliteNames: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  26: 'SQLITE_NOTADB',
};

const wait = 'end or wait for the process that holds it';
const replace = 'move the file away, with the -wal beside it (`unwedge doctor` says how); a new one is started';
const permit =
  'make the file and its directory writable, or choose another: `store` of the gateway, `--db` of a command, or `UNWEDGE_DB`';
const space = 'free space on its disk';
const choose = 'choose another file: `store` of the gateway, `--db` of a command, or `UNWEDGE_DB`';
const noDatabase = 'the file is no SQLite database; nothing was written to it';
const chooseOther = `${choose}; where it was the database of unwedge and was overwritten, move it away`;

const fixes: Readonly<Record<string, string>> = {
  SQLITE_BUSY: wait,
  SQLITE_LOCKED: wait,
  SQLITE_CORRUPT: replace,
  SQLITE_NOTADB: replace,
  SQLITE_READONLY: permit,
  EACCES: permit,
  EPERM: permit,
  EROFS: permit,
  SQLITE_FULL: space,
  ENOSPC: space,
  EDQUOT: space,
  EISDIR: 'name a file: `store` of the gateway, `--db` of a command, or `UNWEDGE_DB`',
  UNWEDGE_FILE_GONE: 'nothing to do: a new file is started',
  UNWEDGE_FILE_DAMAGED:
    'a new file is started; see who cuts files that are in use: a cleaner, a copy over them, or another SQLite library in this process that opened the file too (it deletes the log when it closes)',
  UNWEDGE_MOVED:
    'name that database: `store` of the gateway, `--db` of a command, or `UNWEDGE_DB`; or delete the file to begin a new one',
  UNWEDGE_OLDER_RUNS: `restart what is named, or the editor or agent that started it; or ${choose}`,
  UNWEDGE_NEWER_SCHEMA: `update unwedge, or ${choose}`,
  UNWEDGE_OLDER_SCHEMA: `${replace}; or ${choose}`,
};

/** Tells what a failing store means. Accepts anything thrown. */
export function diagnose(error: unknown, path: string): SqliteTrouble {
  const code = codeOf(error);
  const message = messageOf(error);
  // It may be any file of the machine, by a mistyped path: whoever reads this must not move it away.
  const isForeign = code === 'SQLITE_NOTADB' && contentsOf(path) === 'other';
  return {
    busy: code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED',
    refusedRow: code === 'SQLITE_CONSTRAINT' || code === 'SQLITE_TOOBIG' || code === 'SQLITE_MISMATCH',
    reason: code === 'EISDIR' ? `${path} is a directory` : `${path}: ${isForeign ? noDatabase : message}`,
    fix: isForeign ? chooseOther : (fixes[code] ?? choose),
  };
}

/**
 * The primary code of what SQLite or the file system reports. better-sqlite3 names even extended codes (SQLITE_READONLY_DBMOVED), node:sqlite
 * numbers them (low byte: the primary code).
 */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  if ('errcode' in error && typeof error.errcode === 'number') return sqliteNames[error.errcode & 0xff] ?? '';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return code.startsWith('SQLITE_') ? code.split('_', 2).join('_') : code;
}
