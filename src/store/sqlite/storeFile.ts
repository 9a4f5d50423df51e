import type { OutageParts } from '../outage.ts';
import type { TransactOptions } from '../work.ts';
import { WriteQueue } from '../writeQueue.ts';
import { type Carrier, FileCommitter, type FileWrite, type RecordLost } from './fileCommitter.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/** Options of a transaction that has to wait. */
interface FileTransactOptions extends TransactOptions {
  /** Keeps the process from ending while it waits for a lock. @defaultValue true */
  readonly awaited?: boolean | undefined;
}

/** The file of a store, as its parts use it: asked at once, written with the commit of the turn. Nothing here throws. */
export class StoreFile extends WriteQueue<FileWrite> {
  readonly #connection: Connection;
  readonly #committer: FileCommitter;

  /** @param path - absolute. */
  constructor(connection: Connection, path: string, parts: OutageParts) {
    const committer = new FileCommitter(connection, path, parts);
    super(committer, path, parts);
    this.#connection = connection;
    this.#committer = committer;
  }

  /** Number of times the file in use has been found to be another one than before. */
  get generation(): number {
    return this.#connection.generation;
  }

  /** Has a new file be given these rows, before any other write. */
  carries(carrier: Carrier): void {
    this.#committer.carries(carrier);
  }

  /** Has the loss of a log be recorded, with the commit after which it is no longer known. */
  recordsLost(record: RecordLost): void {
    this.#committer.recordsLost(record);
  }

  /** Asks the database, unless it is known to be out of order, or closed: asking would open it again. */
  ask<T>(question: (database: Database, schema: Schema) => T, otherwise: T): T {
    if (this.degraded || this.closed) return otherwise;
    try {
      return this.#connection.use(question);
    } catch (error) {
      this.report(error);
      return otherwise;
    }
  }

  /**
   * Runs one transaction behind the writes made before it.
   * @param work - runs again where the commit fails.
   * @returns undefined when it has to wait for the store, or is refused.
   */
  transact<T>(
    work: (database: Database, schema: Schema, isLate: boolean) => T,
    { late = 'skip', awaited = true }: FileTransactOptions = {},
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      if (this.refuses()) {
        resolve(undefined);
        return;
      }
      let result: T | undefined;
      let isLate = false;
      this.write({
        awaited,
        run(database, schema) {
          if (!isLate || late === 'run') result = work(database, schema, isLate);
        },
        committed: () => resolve(result),
        postponed() {
          isLate = true;
          resolve(undefined);
        },
      });
    });
  }
}
