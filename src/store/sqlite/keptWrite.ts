import type { Kept } from '../../sessions/sessionStore.ts';
import type { Database } from './database.ts';
import type { Fence } from './sessionFence.ts';
import type { FileWrite } from './fileCommitter.ts';
import type { Schema } from './schema.ts';

/** A write after which a handler begins, or of which a fact tells that is written next. */
export type WriteKind = 'begins' | 'toldNext';

/** Runs within a transaction. @returns the number of rows it changed. */
export type Change = (database: Database, schema: Schema) => number;

/** Those who hear of a write. */
export interface KeptWriteHeard {
  /** Receives what became of it, once. */
  readonly resolve: (kept: Kept) => void;
  /** Called once it is committed and has changed something. */
  readonly note: (() => void) | undefined;
  readonly fenced: () => void;
}

/** Write of a session's ledger; there is one for each row, so it is one object. */
export class KeptWrite implements FileWrite {
  readonly begins: boolean;
  readonly toldNext: boolean;
  readonly awaited: true;
  readonly #holds: Fence;
  readonly #change: Change;
  readonly #heard: KeptWriteHeard;
  /** `volatile` for a row that a foreign database refuses. */
  #kept: Kept;

  constructor(holds: Fence, change: Change, heard: KeptWriteHeard, how: WriteKind | undefined) {
    this.awaited = true;
    this.begins = how === 'begins';
    this.toldNext = how === 'toldNext';
    this.#holds = holds;
    this.#change = change;
    this.#heard = heard;
    this.#kept = 'volatile';
  }

  run(database: Database, schema: Schema, transaction: object): void {
    this.#kept = 'volatile';
    if (!this.#holds(database, transaction)) this.#kept = 'fenced';
    else if (this.#change(database, schema) > 0) this.#kept = 'durable';
  }

  committed(): void {
    const { note, fenced, resolve } = this.#heard;
    if (this.#kept === 'durable') note?.();
    else if (this.#kept === 'fenced') fenced();
    resolve(this.#kept);
  }

  postponed(): void {
    this.#heard.resolve('volatile');
  }
}
