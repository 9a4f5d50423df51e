/** Holds the last rows that were added and not taken, so many of them. */
export class LastRows<Row> {
  readonly #most: number;
  #rows: Row[] = [];
  #next = 0;
  #news = 0;

  /** @param most - at least 1. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Rows that were added and not taken; some of them may be gone. */
  get news(): number {
    return this.#news;
  }

  /** The last row, while it is held. */
  get last(): Row | undefined {
    return this.#rows[(this.#next + this.#most - 1) % this.#most];
  }

  add(row: Row): void {
    this.#rows[this.#next] = row;
    this.#next = (this.#next + 1) % this.#most;
    this.#news++;
  }

  /** @returns what it holds, oldest first, and how many rows are gone; from then on it holds none of them. */
  take(): { readonly rows: readonly Row[]; readonly missed: number } {
    const rows = [...this.#rows.slice(this.#next), ...this.#rows.slice(0, this.#next)];
    const missed = this.#news - rows.length;
    this.#rows = [];
    this.#next = 0;
    this.#news = 0;
    return { rows, missed };
  }
}
