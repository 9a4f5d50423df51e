import type { OutageParts } from '../src/store/outage.ts';
import type { StoreOutage } from '../src/policy/storeOutage.ts';
import type { TransactOptions } from '../src/store/work.ts';
import { WriteQueue } from '../src/store/writeQueue.ts';
import type { BatchRows } from './batch.ts';
import { PgCommitter, type PgWrite } from './pgCommitter.ts';
import type { PgConnections, Sql, Transaction } from './pgConnections.ts';
import type { PgRow } from './pgDriver.ts';

/** The database of a store, as its parts use it: read at once, written with the commit of the turn. Nothing here throws. */
export class PgDatabase {
  readonly #connections: PgConnections;
  readonly #committer: PgCommitter;
  readonly #queue: WriteQueue<PgWrite>;

  /** @param path - for people. */
  constructor(connections: PgConnections, path: string, parts: OutageParts) {
    this.#connections = connections;
    this.#committer = new PgCommitter(connections, path, parts.logger);
    this.#queue = new WriteQueue(this.#committer, path, parts);
  }

  /** False: rows are where they were asked to go, or soon will be. */
  get degraded(): boolean {
    return this.#queue.degraded;
  }

  get outage(): StoreOutage | undefined {
    return this.#queue.outage;
  }

  get closed(): boolean {
    return this.#queue.closed;
  }

  /** Tells whether one more write is refused now; counts it as dropped. Ask before building it. */
  refuses(): boolean {
    return this.#queue.refuses();
  }

  write(write: PgWrite): void {
    this.#queue.add(write);
  }

  /** Reads; `undefined` while the store is degraded, closed, or does not answer. */
  read(sql: Sql, values?: readonly unknown[]): Promise<readonly PgRow[] | undefined> {
    return this.decide((transaction) => transaction.run(sql, values));
  }

  /** Runs a transaction of its own, beside the writes that wait; `undefined` like {@link read}. Nothing of it is tried again. */
  async decide<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined> {
    if (this.degraded || this.#queue.closed) return undefined;
    try {
      await this.#committer.prepare();
      return await this.#connections.transaction(work);
    } catch {
      // It was not the queue that failed: what is written next finds out whether the store is out of order.
      return undefined;
    }
  }

  /**
   * Runs one transaction behind the writes made before it.
   * @param work - runs again where the commit fails.
   * @returns undefined when it has to wait for the store, or is refused.
   */
  transact<T>(
    work: (batch: BatchRows, isLate: boolean) => Promise<T>,
    { late = 'skip' }: TransactOptions = {},
  ): Promise<T | undefined> {
    return new Promise((resolve) => {
      if (this.refuses()) {
        resolve(undefined);
        return;
      }
      let result: T | undefined;
      let isLate = false;
      this.write({
        awaited: true,
        async run(batch) {
          if (!isLate || late === 'run') result = await work(batch, isLate);
        },
        committed: () => resolve(result),
        postponed() {
          isLate = true;
          resolve(undefined);
        },
      });
    });
  }

  /** Makes the first contact. @throws what {@link diagnose} reads. */
  prepare(): Promise<void> {
    return this.#committer.prepare();
  }

  diagnose(error: unknown): ReturnType<PgCommitter['diagnose']> {
    return this.#committer.diagnose(error);
  }

  /** The same; resolves when it succeeded or the store is degraded. */
  start(): Promise<void> {
    return this.#queue.start();
  }

  flush(): Promise<boolean> {
    return this.#queue.flush();
  }

  close(): Promise<void> {
    return this.#queue.close();
  }

  /** Waits for the server no more. @param reason - for people. */
  giveUp(reason: string): void {
    this.#committer.cut();
    this.#queue.giveUp(reason);
  }
}
