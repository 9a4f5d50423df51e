import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename } from 'node:path';
import { openOwnFile } from '../../actors/process/ownFile.ts';
import { fromJson, toJson } from '../../policy/text/storedJson.ts';
import type { Database } from './database.ts';
import { hasTable } from './schema.ts';

/** A commit that was acknowledged, as it stands in the database and beside it. */
interface Mark {
  /** Made with the first, so that another database at this place is told from an earlier copy of this one. */
  readonly id: string;
  /** Grows with each that is entered. */
  readonly count: number;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** Inode of the database. */
  readonly inode: number;
}

/** Commits that were acknowledged and are not in the database. Times are wall time in ms since the epoch. */
export interface LostLog {
  /** Time of the last commit that is known to be in it; undefined where none is. */
  readonly from: number | undefined;
  /** Time of the last commit that is known to be lost. */
  readonly to: number;
}

/** A commit is entered after so long without one, in ms. */
const enterEveryMs = 1000;

/** Each of a length: it is written over the one before without a moment in which there is none. */
const markBytes = 200;

/** Returns the path of a database's mark: not under the names that whoever deletes its log takes with it, such as `FILE-*`. */
const markOf = (path: string): string => `${path}.log-mark`;

/**
 * A mark beside the database of a commit that was acknowledged. SQLite opens a file whose log was deleted, cut or damaged after a kill without a word, as
 * it was when the log was written back last; so does it an earlier copy. The mark says then that more had been there. Where the log was written back by
 * whoever it was, that commit is in the database, and where the last process closes it in order the mark is taken away.
 *
 * All before a lost commit may be there, nothing behind it is: so not each has to be entered, but the first after the log was written back, and one a second.
 */
export class LogMark {
  readonly #path: string;
  #id: string | undefined = undefined;
  /** The highest that is known. */
  #count = 0;
  #isWal = false;
  #hasTable = false;
  /** Time at which the database itself was written to last, as it was before the last that was entered. */
  #writtenAt: number | undefined = undefined;
  #enteredAt = Number.NEGATIVE_INFINITY;
  #lost: LostLog | undefined = undefined;

  /** @param path - of the database, absolute. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Loss that was found, until a commit is entered. */
  get lost(): LostLog | undefined {
    return this.#lost;
  }

  /** Gives what is lost, within a transaction, unless another process that found it too has entered a commit since: it has told of it. @throws what SQLite reports. */
  untold(database: Database): LostLog | undefined {
    if (this.#lost !== undefined && (readRow(database)?.count ?? 0) > this.#count) this.#lost = undefined;
    return this.#lost;
  }

  /** @param wasThere - whether the file held anything before: another one that is begun in its place has lost nothing. @throws what SQLite reports. */
  opened(database: Database, wasThere: boolean): void {
    const mark = readMark(this.#path);
    const row = readRow(database);
    this.#isWal = database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] === 'wal';
    this.#hasTable = row !== undefined || hasTable(database, 'unwedge_meta');
    this.#lost = wasThere ? lostBetween(mark, row, inodeOf(this.#path)) : undefined;
    this.#id = row?.id ?? (this.#lost === undefined ? randomUUID() : mark?.id);
    // Above a mark that an earlier copy lags behind, or the mark would stay.
    this.#count = mark?.id === this.#id ? (mark?.count ?? 0) : 0;
    this.#writtenAt = undefined;
  }

  /**
   * Enters the transaction that is under way, where that is due. @param wallNow - in ms since the epoch.
   * @returns to be called once it is committed. @throws what SQLite reports.
   */
  enter(database: Database, wallNow: number): (() => void) | undefined {
    if (!this.#isWal || this.#id === undefined) return this.#lost && (() => this.#forget());
    const stats = statSync(this.#path, { throwIfNoEntry: false });
    const isDue = stats?.mtimeMs !== this.#writtenAt || Math.abs(wallNow - this.#enteredAt) >= enterEveryMs;
    if (stats === undefined || !isDue) return undefined;
    const row = readRow(database);
    const count = Math.max(this.#count, row?.count ?? 0) + 1;
    const mark: Mark = { id: row?.id ?? this.#id, count, at: Math.round(wallNow), inode: stats.ino };
    if (!this.#hasTable) database.exec(createMeta);
    database.prepare(upsert).run(toJson(mark));
    return () => {
      this.#hasTable = true;
      this.#count = count;
      this.#writtenAt = stats.mtimeMs;
      this.#enteredAt = wallNow;
      this.#lost = undefined;
      writeMark(this.#path, mark);
    };
  }

  /** The connection is closed: SQLite deletes the log with the last one, once all of it is in the database. Never throws. */
  closed(): void {
    if (this.#lost === undefined && !existsSync(`${this.#path}-wal`)) this.#forget();
  }

  /** Nothing that was acknowledged is in a log alone. */
  #forget(): void {
    this.#lost = undefined;
    quietly(() => rmSync(markOf(this.#path), { force: true }));
  }
}

const createMeta = 'CREATE TABLE IF NOT EXISTS unwedge_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT';
const upsert = `INSERT INTO unwedge_meta (key, value) VALUES ('log', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

/** Finds what a database has lost that no process has opened since. @throws what SQLite reports. */
export function readLostLog(database: Database, path: string): LostLog | undefined {
  // First: what is acknowledged meanwhile is in the database by then.
  const mark = readMark(path);
  return mark && lostBetween(mark, readRow(database), inodeOf(path));
}

/** Says what happened, what may be lost and what to do. */
export function lostLogText(path: string, { from, to }: LostLog): { readonly reason: string; readonly fix: string } {
  const since = from === undefined ? 'before' : `between ${timeText(from)} and`;
  const what = `what was acknowledged ${since} ${timeText(to)} or soon after may be lost: messages, results of calls, events`;
  const how = `its log (\`${basename(path)}-wal\`) was deleted or damaged, or an earlier copy was put in its place, while no process had closed it in order`;
  return {
    reason: `${path}: ${what}; ${how}`,
    fix: 'send again what is missing; whoever copies or cleans there must leave the `-wal` and `-shm` beside the file, and copy by `VACUUM INTO`',
  };
}

/** The last time that a `Date` can hold, in ms. */
const lastDate = 8.64e15;

const timeText = (at: number): string => new Date(at).toISOString();

function lostBetween(mark: Mark | undefined, row: Mark | undefined, inode: number | undefined): LostLog | undefined {
  if (mark === undefined) return undefined;
  // Without a row, whether it is the same database is known by its file alone.
  const isLost = row === undefined ? mark.inode === inode : row.id === mark.id && row.count < mark.count;
  return isLost ? { from: row?.at, to: mark.at } : undefined;
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function readRow(database: Database): Mark | undefined {
  if (!hasTable(database, 'unwedge_meta')) return undefined;
  return toMark(String(database.prepare(`SELECT value FROM unwedge_meta WHERE key = 'log'`).get()?.['value']));
}

function readMark(path: string): Mark | undefined {
  let text = '';
  quietly(() => (text = readFileSync(markOf(path), 'utf8')));
  return toMark(text);
}

function toMark(text: string): Mark | undefined {
  const value: unknown = fromJson(text)?.value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, count, at, inode } = value as Readonly<Record<string, unknown>>;
  // Time is shown, and a date has an end; a number that a file system gives is as large as it likes.
  const isMark = typeof id === 'string' && Number.isFinite(inode) && [count, at].every(Number.isSafeInteger);
  return isMark && Math.abs(Number(at)) <= lastDate
    ? { id, count: Number(count), at: Number(at), inode: Number(inode) }
    : undefined;
}

/** Writes the mark; while that fails, a log that is lost is not noticed. */
function writeMark(path: string, mark: Mark): void {
  const known = readMark(path);
  // Another process was faster.
  if (known?.id === mark.id && known.count > mark.count) return;
  quietly(() => {
    const file = openOwnFile(markOf(path));
    try {
      writeSync(file, `${toJson(mark).padEnd(markBytes - 1)}\n`, 0);
    } finally {
      closeSync(file);
    }
  });
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The database itself is what counts.
  }
}
