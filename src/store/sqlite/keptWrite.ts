import type { Kept } from '../../sessions/sessionStore.ts';
import type { Database } from './database.ts';
import type { Fence } from './sessionFence.ts';
import type { FileWrite } from './fileCommitter.ts';

/** A write after which a handler begins, or of which a fact tells that is written next. */
export type WriteKind = 'begins' | 'toldNext';

/** One write of a session's ledger; there is one for each row, so it is one object. */
export class KeptWrite implements FileWrite {
  readonly begins: boolean;
  readonly toldNext: boolean;
  readonly awaited = true;
  readonly #holds: Fence;
  readonly #change: (database: Database) => number;
  readonly #resolve: (kept: Kept) => void;
  /** Stays so for a row that a foreign database refuses. */
  #kept: Kept = 'volatile';

  /**
   * @param change - the number of rows it changed.
   * @param resolve - gets what became of it, once.
   */
  constructor(holds: Fence, change: (database: Database) => number, resolve: (kept: Kept) => void, how?: WriteKind) {
    this.begins = how === 'begins';
    this.toldNext = how === 'toldNext';
    this.#holds = holds;
    this.#change = change;
    this.#resolve = resolve;
  }

  run(database: Database, _schema: unknown, transaction: object): void {
    this.#kept = 'volatile';
    if (!this.#holds(database, transaction)) this.#kept = 'fenced';
    else if (this.#change(database) > 0) this.#kept = 'durable';
  }

  committed(): void {
    this.#resolve(this.#kept);
  }

  postponed(): void {
    this.#resolve('volatile');
  }
}
