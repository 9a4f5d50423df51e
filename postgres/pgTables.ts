import { type Row, type Statement, valuesOf, written } from '../src/store/dialect.ts';
import type { Step, Tables, TransactOptions, Work } from '../src/store/work.ts';
import { type BatchRows, columnsIn } from './batch.ts';
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
    this.#events = events;
  }

  refuses(): boolean {
    return this.#database.refuses();
  }

  write(work: () => Work<void>, committed?: () => void): void {
    this.#database.write({ run: (batch) => this.#do(work(), batch), ...(committed !== undefined && { committed }) });
  }

  transact<T>(work: (isLate: boolean) => Work<T>, options?: TransactOptions): Promise<T | undefined> {
    return this.#database.transact(async (batch, isLate) => this.#do(work(isLate), batch), options);
  }

  readonly read = async (statement: Statement, row: object = {}): Promise<readonly Row[]> =>
    (await this.#database.read(queryOf(statement), queryValues(statement, row))) ?? [];

  flush(): Promise<boolean> {
    return this.#database.flush();
  }

  /** Goes on at once as long as no step answers: a batch without answers is sent with its commit. */
  #do<T>(work: Work<T>, batch: BatchRows, given: readonly Row[] = []): T | Promise<T> {
    let next = work.next(given);
    while (next.done !== true) {
      const made = this.#make(next.value, batch);
      if (made !== undefined) return made.then((rows) => this.#do(work, batch, rows as readonly Row[]));
      next = work.next([]);
    }
    return next.value;
  }

  #make(step: Step, batch: BatchRows): Promise<readonly unknown[]> | undefined {
    if ('fact' in step) return this.#events.insert(batch, step.fact).then(() => []);
    if ('all' in step) return Promise.all(step.all.map((work) => this.#do(work, batch)));
    const { statement, key, values } = step;
    if (statement.answers) return batch.row(overRows(statement), key, values);
    batch.add(overRows(statement), key, values);
    return undefined;
  }
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
