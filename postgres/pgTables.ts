import {
  type Read,
  type Row,
  type Statement,
  type Step,
  type Tables,
  type TransactOptions,
  type Work,
  valuesOf,
  written,
} from '../src/store/face.ts';
import { type BatchRows, columnsIn } from './batch.ts';
import { writeFenced } from './fenced.ts';
import type { Lease } from './leases.ts';
import type { Sql } from './pgConnections.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgEvents } from './pgEvents.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';

/** The tables of a database: steps of work go with the next batch, and only those that answer are waited for. */
export class PgTables implements Tables {
  readonly #database: PgDatabase;
  readonly #events: Pick<PgEvents, 'insert'>;

  constructor(database: PgDatabase, events: Pick<PgEvents, 'insert'>) {
    this.#database = database;
    this.read = readFrom(database);
    this.#events = events;
  }

  refuses(): boolean {
    return this.#database.refuses();
  }

  write(work: () => Work<void>, committed?: () => void): void {
    this.#database.write({
      run: (batch) => doWork(work(), this.#events, batch),
      ...(committed !== undefined && { committed }),
    });
  }

  transact<T>(work: (isLate: boolean) => Work<T>, options?: TransactOptions): Promise<T | undefined> {
    return this.#database.transact(async (batch, isLate) => doWork(work(isLate), this.#events, batch), options);
  }

  readonly read: Read;

  flush(): Promise<boolean> {
    return this.#database.flush();
  }
}

/** Reads rows; none while the database is out of order. */
export function readFrom(database: Pick<PgDatabase, 'read'>): Read {
  return async (statement, row = {}) => (await database.read(queryOf(statement), queryValues(statement, row))) ?? [];
}

/** Part of a batch that work needs. */
type WorkRows = Pick<BatchRows, 'row' | 'add'>;

/**
 * Does work with the next batch. It goes on at once as long as no step answers: a batch without answers is sent with its commit.
 * @param lease - of the session whose ledger it writes to.
 */
export function doWork<T>(
  work: Work<T>,
  events: Pick<PgEvents, 'insert'>,
  batch: WorkRows,
  lease?: Lease,
  given: readonly Row[] = [],
): T | Promise<T> {
  let next = work.next(given);
  while (next.done !== true) {
    const made = make(next.value, events, batch, lease);
    if (made !== undefined) return made.then((rows) => doWork(work, events, batch, lease, rows as readonly Row[]));
    next = work.next([]);
  }
  return next.value;
}

function make(
  step: Step,
  events: Pick<PgEvents, 'insert'>,
  batch: WorkRows,
  lease: Lease | undefined,
): Promise<readonly unknown[]> | undefined {
  if ('all' in step) return Promise.all(step.all.map((work) => doWork(work, events, batch, lease)));
  if ('kept' in step) return lease && writeFenced(batch, step.kept, lease).then((kept) => [{ kept }]);
  // Waited for: what comes of the work is not so where the server refuses it.
  if ('fact' in step) return events.insert(batch, step.fact)?.then(() => []);
  const { statement, key, values } = step;
  // A step for a file alone.
  if (statement.text.startsWith('{|')) return undefined;
  if (statement.answers) return batch.row(overRows(statement), key, values);
  batch.add(overRows(statement), key, values);
  return undefined;
}

const known = new WeakMap<Statement, RowStatement>();

/** A statement over all rows of a batch. */
export function overRows(statement: Statement): RowStatement {
  const { name, columns, text, rank, together } = statement;
  const made = known.get(statement) ?? {
    name,
    rank,
    together,
    text: `WITH ${rowsOf(columns)} ${written(text, 'server', (value) => `w.${value}`)}`,
  };
  known.set(statement, made);
  return made;
}

/** A statement that only reads. */
export function queryOf({ name, columns, text }: Statement): Sql {
  const place = (value: string): string => {
    const index = columns.findIndex((column) => column.name === value);
    return `$${index + 1}::${columns[index]?.type}`;
  };
  return { name, text: written(text, 'server', place) };
}

/** Its values. */
export function queryValues({ columns }: Statement, row: object): readonly unknown[] {
  return columnsIn([valuesOf(columns, row)]).flat();
}
