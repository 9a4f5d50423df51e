import type { Kept } from '../../sessions/sessionStore.ts';
import type { BatchRows, LeasedRow } from './batch.ts';
import type { Lease } from './leases.ts';
import type { PgWrite } from './pgCommitter.ts';
import type { FencedStatement, Value } from './rowStatement.ts';

/** A write after which a handler begins, or of which a fact tells that is written next. */
export type WriteKind = 'begins' | 'toldNext';

/** One row of a session's ledger on its way; there is one for each row, so it is one object. */
export class KeptRow implements PgWrite, LeasedRow {
  readonly begins: boolean;
  readonly toldNext: boolean;
  readonly awaited = true;
  readonly lease: Lease;
  readonly values: readonly Value[];
  readonly #statement: FencedStatement;
  readonly #resolve: (kept: Kept) => void;
  /** Stays so for a row that the database refuses. */
  #kept: Kept = 'volatile';

  /** @param resolve - gets what became of it, once. */
  constructor(
    statement: FencedStatement,
    lease: Lease,
    values: readonly Value[],
    resolve: (kept: Kept) => void,
    how?: WriteKind,
  ) {
    this.begins = how === 'begins';
    this.toldNext = how === 'toldNext';
    this.#statement = statement;
    this.lease = lease;
    this.values = values;
    this.#resolve = resolve;
  }

  run(batch: BatchRows): void {
    this.#kept = 'volatile';
    batch.keep(this.#statement, this);
  }

  kept(kept: Kept): void {
    this.#kept = kept;
  }

  committed(): void {
    this.#resolve(this.#kept);
  }

  postponed(): void {
    this.#resolve('volatile');
  }
}
