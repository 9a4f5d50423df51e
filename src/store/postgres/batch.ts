import { lockLeases } from './leaseStatements.ts';
import type { Transaction } from './pgConnections.ts';
import type { PgRow } from './pgDriver.ts';
import type { RowStatement, Value } from './rowStatement.ts';

/** What a write does in a batch. */
export interface BatchRows {
  /**
   * Adds a row to a statement, behind what was added for its key before. Rows of one statement go together. Rows that are added without a wait between
   * them are waited for together, in one `Promise.all`: where one fails, all do.
   * @returns the rows that came of it: those with its `ord`.
   */
  row(statement: RowStatement, key: string, values: readonly Value[]): Promise<readonly PgRow[]>;
}

interface Row {
  readonly values: readonly Value[];
  readonly resolve: (rows: readonly PgRow[]) => void;
  readonly reject: (error: unknown) => void;
}

interface Group {
  readonly statement: RowStatement;
  readonly rows: Row[];
}

/** The statements of one transaction: few for many rows, and in order for each key. */
export class Batch implements BatchRows {
  #groups: Group[] = [];
  /** The last group of each key. */
  readonly #last = new Map<string, number>();
  readonly #leases = new Set<string>();

  /** Whether nothing waits to be sent. */
  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  row(statement: RowStatement, key: string, values: readonly Value[]): Promise<readonly PgRow[]> {
    return new Promise((resolve, reject) => {
      const index = this.#placeOf(statement, key);
      const group = this.#groups[index] ?? { statement, rows: [] };
      this.#groups[index] = group;
      group.rows.push({ values, resolve, reject });
      this.#last.set(key, index);
      if (statement.isFenced === true) this.#leases.add(key);
    });
  }

  /** Sends all of it without a wait in between; resolves when all of it is answered. @throws what the server says first. */
  async send(transaction: Transaction): Promise<void> {
    const groups = this.#groups.map((group, index) => ({ ...group, index }));
    this.#groups = [];
    this.#last.clear();
    const leases = Array.from(this.#leases, clean);
    this.#leases.clear();
    groups.sort((one, other) => (one.statement.rank ?? 0) - (other.statement.rank ?? 0) || one.index - other.index);
    const locked = leases.length > 1 ? transaction.run(lockLeases, [leases]) : undefined;
    await Promise.all([locked, ...groups.map((group) => sendGroup(transaction, group))]);
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
  const [first] = rows;
  const columns = first?.values.map((_, column) => rows.map(({ values }) => clean(values[column] ?? null)));
  try {
    const answers: PgRow[][] = rows.map(() => []);
    for (const answer of await transaction.run(statement, columns)) answers[Number(answer['ord']) - 1]?.push(answer);
    for (const [index, { resolve }] of rows.entries()) resolve(answers[index] ?? []);
  } catch (error) {
    for (const { reject } of rows) reject(error);
    throw error;
  }
}

/** PostgreSQL holds every character but one, and no integer without an end. */
function clean(value: Value): Value {
  if (typeof value === 'number' && !Number.isFinite(value)) return value > 0 ? Number.MAX_SAFE_INTEGER : 0;
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
}
