import type { OutageParts } from '../outage.ts';
import type { StoreOutage } from '../../policy/storeOutage.ts';
import type { TransactOptions } from '../work.ts';
import { WriteQueue } from '../writeQueue.ts';
import type { Carrier } from './carriers.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { FileCommitter, type FileWrite, type RecordLost } from './fileCommitter.ts';
import type { Schema } from './schema.ts';

/** Options of a transaction that has to wait. */
interface FileTransactOptions extends TransactOptions {
  /** Keeps the process from ending while it waits for a lock. @defaultValue true */
  readonly awaited?: boolean | undefined;
}

/** The file of a store, as its parts use it: asked at once, written with the commit of the turn. Nothing here throws. */
export class StoreFile {
  /** Absolute. */
  readonly path: string;
  readonly #connection: Connection;
  readonly #committer: FileCommitter;
  readonly #queue: WriteQueue<FileWrite>;

  constructor(connection: Connection, path: string, parts: OutageParts) {
    this.path = path;
    this.#connection = connection;
    this.#committer = new FileCommitter(connection, path, parts);
    this.#queue = new WriteQueue(this.#committer, path, parts);
  }

  /** False: rows are where they were asked to go, or soon will be. */
  get degraded(): boolean {
    return this.#queue.degraded;
  }

  get outage(): StoreOutage | undefined {
    return this.#queue.outage;
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

  /** Tells whether one more write is refused now; counts it as dropped. Ask before building it. */
  refuses(): boolean {
    return this.#queue.refuses();
  }

  write(write: FileWrite): void {
    this.#queue.add(write);
  }

  /** Asks the database, unless it is known to be out of order, or closed: asking would open it again. */
  ask<T>(question: (database: Database, schema: Schema) => T, otherwise: T): T {
    if (this.degraded || this.#queue.closed) return otherwise;
    try {
      return this.#connection.use(question);
    } catch (error) {
      this.#queue.report(error);
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

  /** Makes the first contact; resolves when it succeeded or the store is degraded. */
  start(): Promise<void> {
    return this.#queue.start();
  }

  flush(): Promise<boolean> {
    return this.#queue.flush();
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}
