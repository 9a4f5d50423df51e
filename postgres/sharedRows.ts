import type { Clock, Timer } from '../src/policy/face.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';
import type { Sql } from './pgConnections.ts';

/** Interval at which changes by other nodes are looked for, in ms. */
const lookEveryMs = 500;

/** Rows of which every node has a copy. */
export interface SharedRows {
  /** Reads those that were changed since a transaction. */
  readonly changes: Sql;
  /** The rows are being read: what is changed here from now on is newer. */
  begin(): void;
  /**
   * Takes what was read into the copy, but for what was changed here since, or is not written yet.
   * @returns whether what was left out is to be read again.
   */
  take(rows: readonly PgRow[]): 'done' | 'again';
}

/**
 * Rows that were written by a transaction that had not ended at the last look, or by a later one. The oldest transaction that is under way comes with
 * them: numbers are given out before they are committed, so that a row of a lower one may still come.
 */
export function changedSince(table: 'breaker' | 'rate', columns: string): Sql {
  return {
    name: `changed_${table}`,
    text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS horizon, r.* FROM (SELECT 1) AS one
      LEFT JOIN (SELECT ${columns} FROM uw.${table} WHERE xid >= $1::xid8) AS r ON true`,
  };
}

/** Keeps the copies of shared rows up to date: looks for changes twice a second, holds no process. */
export class SharedCopies {
  readonly #database: PgDatabase;
  readonly #clock: Clock;
  readonly #copies: ReadonlyMap<SharedRows, { horizon: string }>;
  #timer: Timer | undefined = undefined;
  #isClosed = false;

  constructor(database: PgDatabase, clock: Clock, copies: readonly SharedRows[]) {
    this.#database = database;
    this.#clock = clock;
    this.#copies = new Map(copies.map((rows) => [rows, { horizon: '0' }]));
  }

  /** Reads all that there is, and goes on looking. Never rejects. */
  async start(): Promise<void> {
    await this.look();
    this.#arm();
  }

  stop(): void {
    this.#isClosed = true;
    this.#clock.clearTimeout(this.#timer);
  }

  /** Takes what was changed since the last look. Never rejects. */
  async look(): Promise<void> {
    await Promise.all(
      Array.from(this.#copies, async ([rows, seen]) => {
        rows.begin();
        const found = await this.#database.read(rows.changes, [seen.horizon]);
        if (found === undefined || this.#isClosed) return;
        const what = rows.take(found.filter(({ name }) => name !== null));
        if (what === 'done') seen.horizon = String(found[0]?.['horizon'] ?? seen.horizon);
      }),
    );
  }

  #arm(): void {
    if (this.#isClosed) return;
    this.#timer = this.#clock.setTimeout(() => void this.look().then(() => this.#arm()), lookEveryMs, { ref: false });
  }
}
