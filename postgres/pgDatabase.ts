import { type OutageParts, type TransactOptions, WriteQueue } from '../src/store/face.ts';
import type { BatchRows } from './batch.ts';
import { PgCommitter, type PgWrite } from './pgCommitter.ts';
import type { PgConnections, Sql, Transaction } from './pgConnections.ts';
import type { PgRow } from './pgDriver.ts';

/** The database of a store, as its parts use it: read at once, written with the commit of the turn. Nothing here throws. */
export class PgDatabase extends WriteQueue<PgWrite> {
  readonly #connections: PgConnections;
  readonly #committer: PgCommitter;

  /** @param path - for people. */
  constructor(connections: PgConnections, path: string, parts: OutageParts) {
    const committer = new PgCommitter(connections, path, parts.logger);
    super(committer, path, parts);
    this.#connections = connections;
    this.#committer = committer;
  }

  /** Reads; `undefined` while the store is degraded, closed, or does not answer. */
  read(sql: Sql, values?: readonly unknown[]): Promise<readonly PgRow[] | undefined> {
    return this.decide((transaction) => transaction.run(sql, values));
  }

  /** Runs a transaction of its own, beside the writes that wait; `undefined` like {@link read}. Nothing of it is tried again. */
  async decide<T>(work: (transaction: Transaction) => Promise<T>): Promise<T | undefined> {
    if (this.degraded || this.closed) return undefined;
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

  /** Waits for the server no more. @param reason - for people. */
  override giveUp(reason: string): void {
    this.#committer.cut();
    super.giveUp(reason);
  }
}
