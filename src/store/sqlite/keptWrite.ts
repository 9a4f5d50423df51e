import type { Kept } from '../../sessions/sessionStore.ts';
import type { Database } from './database.ts';
import type { FileWrite } from './fileCommitter.ts';
import type { Schema } from './schema.ts';

/** A session as a runtime has claimed it. */
export interface Claimed {
  readonly session: string;
  /** The runtime that claimed it. */
  readonly runtime: string;
  readonly fence: number;
}

/** Tells whether a session is still whose it was. @param transaction - another object for each. */
export type Fence = (database: Database, transaction: object) => boolean;

/**
 * Asks whether a session is still whose it was: once a transaction, which holds the lock on writing from its begin to its end.
 * @param isGivenUp - true once it was let go of: a session that nobody has was erased then.
 * @returns the question; its second argument is another object for each transaction.
 */
export function createFence({ session, runtime, fence }: Claimed, isGivenUp: () => boolean): Fence {
  let asked: object | undefined;
  let held = false;

  function ask(database: Database): boolean {
    const row = database.prepare('SELECT owner, fence FROM unwedge_sessions WHERE id = ?').get(session);
    if (row !== undefined) return row['owner'] === runtime && row['fence'] === fence;
    if (isGivenUp()) return false;
    // A session that nobody has is in a file that was replaced while this one was running.
    database.prepare('INSERT INTO unwedge_sessions (id, owner, fence) VALUES (?, ?, ?)').run(session, runtime, fence);
    return true;
  }

  return (database, transaction) => {
    if (asked !== transaction) {
      held = ask(database);
      asked = transaction;
    }
    return held;
  };
}

/** A write after which a handler begins, or of which a fact tells that is written next. */
export type WriteKind = 'begins' | 'toldNext';

/** Runs within a transaction. @returns the number of rows it changed. */
export type Change = (database: Database, schema: Schema) => number;

/** Listeners of a write: `resolve` receives what became of it, `note` is called once it is committed and has changed something. */
export interface KeptWriteHeard {
  readonly resolve: (kept: Kept) => void;
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
  #kept: Kept;

  constructor(holds: Fence, change: Change, heard: KeptWriteHeard, how: WriteKind | undefined) {
    this.awaited = true;
    this.begins = how === 'begins';
    this.toldNext = how === 'toldNext';
    this.#holds = holds;
    this.#change = change;
    this.#heard = heard;
    // Stays so for a row that a foreign database refuses.
    this.#kept = 'volatile';
  }

  run(database: Database, schema: Schema, transaction: object): void {
    const isHeld = this.#holds(database, transaction);
    this.#kept = isHeld ? 'volatile' : 'fenced';
    if (isHeld && this.#change(database, schema) > 0) this.#kept = 'durable';
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
