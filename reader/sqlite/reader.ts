import { existsSync, statSync } from 'node:fs';
import type { OrderResult } from '../../src/policy/face.ts';
import type { EventQuery, EventRow, Read, RuntimeRow, Work } from '../../src/store/face.ts';
import type { LetterOrder } from '../letterOrder.ts';
import type { AlertView, LostLogRecord, StoreReader, StoreStatus } from '../storeReader.ts';
import { readAlerts, readStatus } from './status.ts';
import {
  type Database,
  type DriverLoader,
  findDriver,
  findEventTable,
  identityOf,
  isOurs,
  prepareSchema,
  readRows,
  refuseTooOld,
  selectEvents,
  versionsOf,
} from '../../src/store/sqlite/face.ts';
import { selectLostLog } from './lostLog.ts';
import { openQueryOnly } from './queryOnly.ts';
import { runIn, runs } from '../../src/store/tables/face.ts';
import { TableReader } from '../tableReader.ts';
import { messageOf } from '../../src/policy/failures/face.ts';

/** A database opened for reading. */
class SqliteReader extends TableReader implements StoreReader {
  readonly path: string;
  readonly identity: string;
  readonly #database: Database;
  readonly #eventTable: string;

  constructor(path: string, database: Database, eventTable: string) {
    super();
    const stats = statSync(path, { throwIfNoEntry: false });
    this.path = path;
    this.identity = stats === undefined ? 'gone' : identityOf(stats);
    this.#database = database;
    this.#eventTable = eventTable;
  }

  async events(query: EventQuery): Promise<readonly EventRow[]> {
    return selectEvents(this.#database, this.#eventTable, query);
  }

  async lastEventId(): Promise<number> {
    return Number(this.#database.prepare(`SELECT max(rowid) AS id FROM ${this.#eventTable}`).get()?.['id'] ?? 0);
  }

  async firstEventId(): Promise<number> {
    return Number(this.#database.prepare(`SELECT min(rowid) AS id FROM ${this.#eventTable}`).get()?.['id'] ?? 0);
  }

  async status(now: number): Promise<StoreStatus> {
    return readStatus(this.#database, this.#eventTable, now);
  }

  async lostLog(since: number): Promise<LostLogRecord | undefined> {
    return selectLostLog(this.#database, this.path, this.#eventTable, since);
  }

  async alerts(now: number): Promise<AlertView> {
    return readAlerts(this.#database, this.#eventTable, now);
  }

  async runtimes(): Promise<readonly RuntimeRow[]> {
    return (await this.read(runs)).map(runIn);
  }

  async orderAboutLetter(order: LetterOrder): Promise<OrderResult> {
    // Loaded now: few ever need it.
    return (await import('./letterBox.ts')).orderAboutLetter(this.path, order);
  }

  protected async write(work: () => Work<OrderResult>): Promise<OrderResult> {
    return (await import('./letterBox.ts')).writeInFile(this.path, work);
  }

  async cluster(): Promise<undefined> {
    return undefined;
  }

  close(): void {
    this.#database.close();
  }

  protected readonly read: Read = async (statement, row) => readRows(this.#database, statement, row);
}

/**
 * Opens a database for reading; nothing is created or changed.
 * @param path - absolute.
 * @throws an Error that names the path and what to do when there is nothing to read.
 */
export async function openSqliteReader(path: string, loaders?: readonly DriverLoader[]): Promise<StoreReader> {
  const found = await findDriver(loaders);
  if (!existsSync(path)) {
    // A proxy may run and keep all in memory: that it makes one would not be so.
    const why = found.ok
      ? `: a gateway with \`store: '${path}'\`, \`unwedge mcp\` or \`unwedge run\` makes one`
      : `, and nothing can make one: ${found.reason}. Fix: ${found.fix}`;
    throw new Error(`No database at ${path}${why}`);
  }
  if (!found.ok) throw new Error(`Cannot read ${path}: ${found.reason}. Fix: ${found.fix}.`);
  let database: Database | undefined;
  try {
    database = openQueryOnly(found.driver, path);
    const ours = isOurs(database);
    // A file that was moved says where to.
    refuseTooOld(versionsOf(database, ours).version);
    const { name, exists } = findEventTable(database, ours);
    if (!exists) throw new Error('it holds no events of unwedge');
    return new SqliteReader(path, database, name);
  } catch (error) {
    database?.close();
    throw new Error(`Cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Reads a file that is not there yet: tables without a row. @throws as {@link openSqliteReader} where nothing can make one. */
export async function openEmptyReader(path: string): Promise<StoreReader> {
  const found = await findDriver();
  if (!found.ok) return openSqliteReader(path);
  const database = found.driver.open(':memory:', { busyTimeoutMs: 0 });
  return new SqliteReader(path, database, prepareSchema(database, 'NORMAL').eventTable);
}
