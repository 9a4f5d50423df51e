import type { Fact, Told } from '../policy/facts/facts.ts';
import type { Column, Row, Statement, Value } from './dialect.ts';

/** A row for a statement. On a server those of one key stay in order, and rows of one statement go together. */
export interface RowStep {
  readonly statement: Statement;
  readonly key: string;
  readonly values: readonly Value[];
}

/** A row for a write to a session's ledger, under the lease by which it is written. One row comes of it: with what became of it, as `kept`. */
interface KeptStep {
  readonly kept: RowStep;
}

/** A step of work: a row for a statement, a fact to be recorded with it, or other work, each part of which waits for no other. */
export type Step = RowStep | KeptStep | { readonly fact: Told<Fact> } | { readonly all: readonly Work<unknown>[] };

/**
 * Work on the tables of a store, in one transaction: it gives its steps one by one, and is given the rows that came of each. A file takes a step at once;
 * a server takes it with the next batch, and only a step that answers is waited for.
 */
export type Work<T> = Generator<Step, T, readonly Row[]>;

/** @param row - its fields are named as the columns are. */
export function step(statement: Statement, key: string, row: object): RowStep {
  return { statement, key, values: valuesOf(statement.columns, row) };
}

/** The values of a row by its columns: times are whole ms, and what is absent is null. */
export function valuesOf(columns: readonly Column[], row: object): readonly Value[] {
  const fields = row as Readonly<Record<string, Value | undefined>>;
  const values: Value[] = [];
  // Once for each row that is written: a closure for each value would be most of what a row costs.
  for (const { field, type } of columns) {
    const value = fields[field] ?? null;
    values.push(typeof value === 'number' && type === 'bigint' ? Math.round(value) : value);
  }
  return values;
}

/** Does all of it; on a server side by side. */
export function* all<T>(works: readonly Work<T>[]): Work<readonly T[]> {
  return (yield { all: works }) as readonly unknown[] as readonly T[];
}

/** Options of a transaction that has to wait. */
export interface TransactOptions {
  /** Treatment of it when the store is out of order, after its caller was told so. @defaultValue 'skip' */
  readonly late?: 'skip' | 'run' | undefined;
}

/** Reads the rows of a statement. @param row - its fields are named as the columns of the statement are. */
export type Read = (statement: Statement, row?: object) => Promise<readonly Row[]>;

/** The tables of an engine, for work that is the same on all. Nothing here throws or rejects. */
export interface Tables {
  /** Tells whether one more write is refused now; counts it as dropped. Ask before building it. */
  refuses(): boolean;
  /** Does work with the commit of this turn, and again if that fails. @param committed - called once, after the commit. */
  write(work: () => Work<void>, committed?: () => void): void;
  /**
   * Does work in one transaction behind the writes made before it.
   * @param work - runs again where the commit fails; is told whether its caller was told already that it has to wait.
   * @returns undefined when it has to wait for the store, or is refused.
   */
  transact<T>(work: (isLate: boolean) => Work<T>, options?: TransactOptions): Promise<T | undefined>;
  /** None while the store is out of order, or closed. */
  readonly read: Read;
  flush(): Promise<boolean>;
  /** Has a new file be given these rows, before any other write. A server has none. */
  carries?(rows: () => readonly RowStep[]): void;
}
