import type { Kept } from '../src/sessions/face.ts';
import type { BatchRows, LeasedRow } from './batch.ts';
import type { Lease } from './leases.ts';
import type { PgWrite } from './pgCommitter.ts';
import type { Value } from '../src/store/face.ts';
import type { FencedStatement } from './rowStatement.ts';

/**
 * A write after which a handler begins, or of which a fact tells that is written next; or a message, whose sender is told nothing before it is known
 * whether it is kept: another node may own its session then, and give its number to another.
 */
export type WriteKind = 'begins' | 'toldNext' | 'settles';

/** Row of a session's ledger on its way; there is one for each row, so it is one object. */
export class KeptRow implements PgWrite, LeasedRow {
  readonly begins: boolean;
  readonly toldNext: boolean;
  readonly awaited = true;
  readonly lease: Lease;
  readonly values: readonly Value[];
  readonly #statement: FencedStatement;
  readonly #resolve: (kept: Kept) => void;
  readonly #settles: boolean;
  #isPostponed = false;
  #isLost = false;
  /** Nobody knows of a commit whose answer was lost. */
  #mayBeThere = false;
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
    this.#settles = how === 'settles';
    this.#statement = statement;
    this.lease = lease;
    this.values = values;
    this.#resolve = resolve;
  }

  run(batch: BatchRows): void {
    this.#kept = 'volatile';
    if (this.#isPostponed && this.#isLost) return;
    this.#mayBeThere = true;
    batch.keep(this.#statement, this);
  }

  kept(kept: Kept): void {
    this.#kept = kept;
  }

  committed(): void {
    this.#resolve(this.#kept);
  }

  postponed(): void {
    this.#isPostponed = true;
    if (!this.#settles) this.#resolve('volatile');
    else if (this.#isLost) this.#resolve(this.#givenUp);
  }

  unwritten(): void {
    this.#resolve('volatile');
  }

  get #givenUp(): Kept {
    return this.#mayBeThere ? 'volatile' : 'fenced';
  }

  /** The session is lost: what is postponed is not written any more, but for what is on its way. */
  lose(): void {
    this.#isLost = true;
    if (this.#isPostponed) this.#resolve(this.#givenUp);
  }
}
