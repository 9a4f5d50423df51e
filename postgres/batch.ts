import type { Kept } from '../src/sessions/face.ts';
import { lockLeases } from './leaseStatements.ts';
import type { Lease } from './leases.ts';
import type { Transaction } from './pgConnections.ts';
import type { PgRow } from './pgDriver.ts';
import type { Value } from '../src/store/face.ts';
import type { FencedStatement, RowStatement } from './rowStatement.ts';

/** Steps of a write in a batch. */
export interface BatchRows {
  /**
   * Adds a row to a statement, behind what was added for its key before, and waits for what comes of it. Rows of one statement go together. Rows that
   * are added without a wait between them are waited for together, in one `Promise.all`: where one fails, all do.
   * @returns the rows that came of it: those with its `ord`.
   */
  row(statement: RowStatement, key: string, values: readonly Value[]): Promise<readonly PgRow[]>;
  /** Adds a row of which nobody asks what became of it. */
  add(statement: RowStatement, key: string, values: readonly Value[]): void;
  /** Adds a row under its lease. */
  keep(statement: FencedStatement, row: LeasedRow): void;
}

/** A row that is written under a lease. */
export interface LeasedRow {
  readonly values: readonly Value[];
  readonly lease: Lease;
  /** Is told what became of it, before the commit. */
  kept(kept: Kept): void;
}

/** A row on its way: one that a caller asks about, or one under its lease. */
export interface Row extends Partial<Omit<LeasedRow, 'values'>>, Pick<LeasedRow, 'values'> {
  readonly resolve?: (rows: readonly PgRow[]) => void;
  readonly reject?: (error: unknown) => void;
}

/** The rows of one statement. */
export interface Group {
  readonly statement: RowStatement;
  readonly rows: Row[];
}

/** Statements that are sent. */
export interface Taken {
  readonly groups: readonly Group[];
  /** Keys of the leases that it locks. */
  readonly leases: readonly Value[];
}

/** The statements of one transaction: few for many rows, and in order for each key. */
export class Batch implements BatchRows {
  #groups: Group[] = [];
  /** The last group of each key. */
  readonly #last = new Map<string, number>();
  /** Keys whose lease is locked by what waits to be sent. */
  readonly #leases = new Set<string>();
  #isAsked = false;
  #chars = 0;

  /** True while nothing waits to be sent. */
  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** True while somebody waits for what comes of a row, and may add more then. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** Length of the texts that were added. */
  get chars(): number {
    return this.#chars;
  }

  row(statement: RowStatement, key: string, values: readonly Value[]): Promise<readonly PgRow[]> {
    this.#isAsked = true;
    return new Promise((resolve, reject) => {
      this.#add(statement, key, { values, resolve, reject });
    });
  }

  add(statement: RowStatement, key: string, values: readonly Value[]): void {
    this.#add(statement, key, { values });
  }

  keep(statement: FencedStatement, row: LeasedRow): void {
    this.#add(statement, row.lease.session, row);
  }

  /** Takes what waits to be sent, in the order in which it is; nothing waits then. */
  take(): Taken {
    const groups = this.#groups.map((group, index) => ({ ...group, index }));
    groups.sort((one, other) => (one.statement.rank ?? 0) - (other.statement.rank ?? 0) || one.index - other.index);
    const leases = Array.from(this.#leases, clean);
    this.#groups = [];
    this.#last.clear();
    this.#leases.clear();
    return { groups, leases };
  }

  /** Sends all of it without a wait in between; resolves when all of it is answered. @throws what the server says first. */
  async send(transaction: Transaction): Promise<void> {
    const { groups, leases } = this.take();
    const locked = leases.length > 1 ? transaction.run(lockLeases, [leases]) : undefined;
    await Promise.all([locked, ...groups.map((group) => sendGroup(transaction, group))]);
  }

  #add(statement: RowStatement, key: string, row: Row): void {
    const index = this.#placeOf(statement, key);
    const group = this.#groups[index];
    if (group === undefined) this.#groups[index] = { statement, rows: [row] };
    else group.rows.push(row);
    this.#last.set(key, index);
    for (const value of row.values) if (typeof value === 'string') this.#chars += value.length;
    if (statement.isFenced === true) this.#leases.add(key);
  }

  #placeOf(statement: RowStatement, key: string): number {
    const last = this.#last.get(key) ?? -1;
    const from = statement.together === true ? Math.max(0, last) : last + 1;
    for (let index = from; index < this.#groups.length; index++) {
      if (this.#groups[index]?.statement === statement) return index;
    }
    return this.#groups.length;
  }
}

async function sendGroup(transaction: Transaction, { statement, rows }: Group): Promise<void> {
  try {
    const answers: PgRow[][] = rows.map(() => []);
    const values = columnsIn(rows.map(allOf));
    for (const answer of await transaction.run(statement, values)) answers[Number(answer['ord']) - 1]?.push(answer);
    for (const [index, row] of rows.entries()) {
      const answer = answers[index] ?? [];
      row.kept?.(keptIn(answer));
      row.resolve?.(answer);
    }
  } catch (error) {
    for (const { reject } of rows) reject?.(error);
    throw error;
  }
}

function allOf({ lease, values }: Row): readonly Value[] {
  return lease === undefined ? values : [lease.session, lease.token, lease.leaseId, ...values];
}

/** Reads what the answer to a fenced row says. */
export function keptIn([row]: readonly PgRow[]): Kept {
  if (row?.['held'] !== true) return 'fenced';
  return row['changed'] === true ? 'durable' : 'volatile';
}

/** Makes one array for each column, as PostgreSQL can hold it. */
export function columnsIn(rows: readonly (readonly Value[])[]): readonly (readonly Value[])[] {
  return (rows[0] ?? []).map((_, column) => rows.map((values) => clean(values[column] ?? null)));
}

/** PostgreSQL holds every character but one, and no integer without an end. */
export function clean(value: Value): Value {
  if (typeof value === 'number' && !Number.isFinite(value)) return value > 0 ? Number.MAX_SAFE_INTEGER : 0;
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
