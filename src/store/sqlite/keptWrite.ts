import type { Kept } from '../../sessions/sessionStore.ts';
import type { Database } from './database.ts';
import type { Fence } from './sessionFence.ts';
import type { FileWrite } from './fileCommitter.ts';
import type { Schema } from './schema.ts';

/** A write after which a handler begins, or of which a fact tells that is written next. */
export type WriteKind = 'begins' | 'toldNext';

/** Runs within a transaction. @returns the number of rows it changed. */
export type Change = (database: Database, schema: Schema) => number;

/** Write of a session's ledger; there is one for each row, so it is one object. */
export class KeptWrite implements FileWrite {
  readonly begins: boolean;
  readonly toldNext: boolean;
  readonly awaited = true;
  readonly #holds: Fence;
  readonly #change: Change;
  readonly #resolve: (kept: Kept) => void;
  /** Stays so for a row that a foreign database refuses. */
  #kept: Kept = 'volatile';

  /**
   * @param resolve - gets what became of it, once.
   */
  constructor(holds: Fence, change: Change, resolve: (kept: Kept) => void, how?: WriteKind) {
    this.begins = how === 'begins';
    this.toldNext = how === 'toldNext';
    this.#holds = holds;
    this.#change = change;
    this.#resolve = resolve;
  }

  run(database: Database, schema: Schema, transaction: object): void {
    this.#kept = 'volatile';
    if (!this.#holds(database, transaction)) this.#kept = 'fenced';
    else if (this.#change(database, schema) > 0) this.#kept = 'durable';
  }

  committed(): void {
    this.#resolve(this.#kept);
  }

  postponed(): void {
    this.#resolve('volatile');
  }
}
