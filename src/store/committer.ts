import type { Carried, Trouble } from './outage.ts';

/** Rows of one commit, and of one turn of the event loop while catching up. */
const batchRows = 500;

/** A write, whatever its engine makes of it. */
export interface Write {
  /** True where the handler of a message begins after its commit; a commit has at most one of these. */
  readonly begins?: boolean | undefined;
  /** True where what is written after it tells of it: both are in one commit. */
  readonly toldNext?: boolean | undefined;
  /** True where a caller is owed what becomes of it: while it waits for a lock the process must not end. */
  readonly awaited?: boolean | undefined;
  /** Called once, after the commit. */
  committed?(): void;
  /** Called at most once, when the commit has to wait for the store to recover, or will not come at all. */
  postponed?(): void;
  /** Called at most once, when the queue has ended and it is not committed; after `postponed`. */
  unwritten?(): void;
}

/** The transactions of an engine. */
export interface Committer<W extends Write> {
  /**
   * Commits these in one transaction, or makes contact where there are none. A file commits at once. An engine behind a network answers with a
   * promise; the queue gives it one batch at a time, and gives it the very same batch again where the promise was rejected.
   * @param always - whether a transaction is made without any too, which proves that one can be.
   * @returns what a new file was given first; undefined while it is the same.
   * @throws what `diagnose` reads.
   */
  commit(batch: readonly W[], always: boolean): Carried | undefined | Promise<undefined>;
  diagnose(error: unknown): Trouble;
  close(): void | Promise<void>;
}

/**
 * The writes of the next commit. A handler may end the process at once: its delivery is counted by then, and no other one is whose handler has
 * not begun. While the store is catching up no caller waits for the commit.
 */
export function nextBatch<W extends Write>(queue: readonly W[], catchingUp: boolean): readonly W[] {
  const batch: W[] = [];
  let begun = false;
  for (const write of queue) {
    if (batch.length >= batchRows && batch.at(-1)?.toldNext !== true) break;
    if (write.begins === true && !catchingUp) {
      if (begun) break;
      begun = true;
    }
    batch.push(write);
  }
  return batch;
}

/** Callers that wait for a commit. Rows are numbered from 1, in the order they were added. */
export class FlushWaiters {
  #waiting: readonly { readonly row: number; readonly resolve: (committed: boolean) => void }[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  /** Resolves with true once this row is committed, with false when the callers are sent away before. */
  waitFor(row: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, { row, resolve }];
    });
  }

  /** Every row up to this one is committed. */
  committed(row: number): void {
    const done = this.#waiting.filter((waiter) => waiter.row <= row);
    if (done.length === 0) return;
    this.#waiting = this.#waiting.filter((waiter) => waiter.row > row);
    for (const { resolve } of done) resolve(true);
  }

  /** The store is out of order, or closed. */
  sendAway(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { resolve } of waiting) resolve(false);
  }
}
