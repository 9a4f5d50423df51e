import { type Row, type Statement, type Value, written } from '../dialect.ts';
import { withFileNames } from '../tables/schema.ts';
import { type RowStep, type Step, step, type Tables, type TransactOptions, type Work } from '../work.ts';
import type { Database, SqlValue } from './database.ts';
import type { EventLog } from './eventLog.ts';
import type { FileWrite } from './fileCommitter.ts';
import { hasTable, type Schema } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** The tables of a file: work is done at once. */
export class FileTables implements Tables {
  readonly #file: StoreFile;
  readonly #log: Pick<EventLog, 'insert'>;

  constructor(file: StoreFile, log: Pick<EventLog, 'insert'>) {
    this.#file = file;
    this.#log = log;
  }

  refuses(): boolean {
    return this.#file.refuses();
  }

  write(work: () => Work<void>, committed?: () => void): void {
    const run: FileWrite['run'] = (database, schema) => doWork(work(), this.#log, database, schema);
    this.#file.write(committed === undefined ? { run } : { run, committed });
  }

  transact<T>(work: (isLate: boolean) => Work<T>, options?: TransactOptions): Promise<T | undefined> {
    return this.#file.transact(
      (database, schema, isLate) => doWork(work(isLate), this.#log, database, schema),
      options,
    );
  }

  readonly read = async (statement: Statement, row: object = {}): Promise<readonly Row[]> =>
    this.#file.ask((database) => doRow(database, step(statement, '', row)), []);

  flush(): Promise<boolean> {
    return this.#file.flush();
  }

  carries(rows: () => readonly RowStep[]): void {
    this.#file.carries({
      carry: (database) => {
        for (const row of rows()) doRow(database, row);
        return { carried: 0, lost: 0 };
      },
    });
  }
}

/** A text for every engine as a file takes it, without values. */
export const fileText = (text: string): string => withFileNames(written(text, 'file', (name) => `:${name}`));

/** Does work within a transaction that is under way, each step at once. @throws what SQLite reports. */
export function doWork<T>(work: Work<T>, log: Pick<EventLog, 'insert'>, database: Database, schema: Schema): T {
  const made = (next: Step): readonly unknown[] => {
    if ('statement' in next) return doRow(database, next);
    if ('kept' in next) return [{ kept: changeRow(database, next.kept) > 0 ? 'durable' : 'volatile' }];
    if ('all' in next) return next.all.map((each) => doWork(each, log, database, schema));
    log.insert(database, schema, next.fact);
    return [];
  };
  let next = work.next();
  while (next.done !== true) next = work.next(made(next.value) as readonly Row[]);
  return next.value;
}

/** Reads in a database that no store of this version may have opened: one without the table has no rows. @throws what SQLite reports. */
export function readRows(database: Database, statement: Statement, row: object = {}): readonly Row[] {
  const { tables } = inFile(statement);
  if (!tables.every((table) => hasTable(database, table))) return [];
  return doRow(database, step(statement, '', row));
}

/** Does a step. @throws what SQLite reports. */
export function doRow(database: Database, { statement, values }: RowStep): readonly Row[] {
  const { text, places } = inFile(statement);
  // A step for a server alone.
  if (text === '') return [];
  if (statement.answers) return database.prepare(text).all(...placed(places, values));
  database.prepare(text).run(...placed(places, values));
  return [];
}

/** Does a step that writes. @returns the number of rows it changed. @throws what SQLite reports. */
export function changeRow(database: Database, { statement, values }: RowStep): number {
  const { text, places } = inFile(statement);
  return database.prepare(text).run(...placed(places, values));
}

function placed(places: readonly number[], values: readonly Value[]): SqlValue[] {
  const inOrder: SqlValue[] = [];
  for (const place of places) {
    const value = values[place] ?? null;
    inOrder.push(typeof value === 'boolean' ? Number(value) : value);
  }
  return inOrder;
}

/** A statement as a file takes it: its values in the order in which they stand. */
interface FileStatement {
  readonly text: string;
  readonly places: readonly number[];
  readonly tables: readonly string[];
}

const known = new WeakMap<Statement, FileStatement>();

function inFile(statement: Statement): FileStatement {
  const made = known.get(statement) ?? fileStatement(statement);
  known.set(statement, made);
  return made;
}

// better-sqlite3 binds numbers beyond 32 bits as REAL.
function fileStatement({ columns, text }: Statement): FileStatement {
  const places: number[] = [];
  const tables = new Set<string>();
  const inPlaces = written(text, 'file', (name) => {
    const place = columns.findIndex((column) => column.name === name);
    places.push(place);
    return columns[place]?.type === 'bigint' ? 'CAST(? AS INTEGER)' : '?';
  });
  const named = withFileNames(inPlaces, (table) => tables.add(table));
  return { text: named.trim(), places, tables: [...tables] };
}
