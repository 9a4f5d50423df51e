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
