/** A value of a column. */
export type Value = string | number | boolean | null;

/** A row as an engine gives it: a `bigint` may be a text. */
export type Row = Readonly<Record<string, unknown>>;

/** A column as a statement takes it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  /** Field of the objects that are its rows. */
  readonly field: string;
}

/**
 * A statement for every engine, over the rows that it is given: one at a time in a file, all of a batch at once on a server, which has them as `w`. In
 * its text `:name` is a value of the row, `uw.alert` a table, and `{server|file}` stands where the two differ.
 */
export interface Statement {
  /** By which a server prepares it. At most 63 characters. */
  readonly name: string;
  readonly columns: readonly Column[];
  readonly text: string;
  /** True where its rows are told what comes of them: on a server by `w.ord`. */
  readonly answers: boolean;
  /** Lets rows of one key be in the same statement: they do not touch each other. @defaultValue false */
  readonly together?: boolean | undefined;
  /** Columns that tell rows from each other, of an insert under a lease: a server leaves out a row whose key is there already. */
  readonly key?: string | undefined;
  /** Statements on rows that all nodes write come last, in this order, so that two nodes do not wait for each other. @defaultValue 0 */
  readonly rank?: number | undefined;
}

/** @param columns - `name type` of each, parted by commas. */
export function statement(
  name: string,
  columns: string,
  text: string,
  order: Pick<Statement, 'together' | 'rank' | 'key'> = {},
): Statement {
  return { name, columns: columnsOf(columns), text, answers: /^SELECT|\bRETURNING\b/.test(text), ...order };
}

/**
 * The text of an insert of all columns.
 * @param then - the rest of it.
 * @param order - by which a server takes the rows: of those that all nodes write by their key.
 */
export function insertInto(table: string, columns: string, then = '', order = 'ord'): string {
  const names = columnsOf(columns).map(({ name }) => name);
  const list = names.join(', ');
  const values = names.map((name) => `:${name}`).join(', ');
  return `INSERT INTO ${table} (${list}) {SELECT ${list} FROM w ORDER BY ${order}|VALUES (${values})} ${then}`;
}

/** @param columns - `name type` of each, parted by commas. */
export function columnsOf(columns: string): readonly Column[] {
  return [...columns.matchAll(/(\w+)\s+(\w+)/g)].map(([, name = '', type = '']) => ({
    name,
    type,
    field: name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
  }));
}

/** The names of columns, for a list of them. */
export const namesOf = (columns: string): string =>
  columnsOf(columns)
    .map(({ name }) => name)
    .join(', ');

/** The text for one kind of engine. @param valueOf - what stands for a value there. */
export function written(text: string, on: 'server' | 'file', valueOf: (name: string) => string): string {
  return text
    .replaceAll(/\{([^{}|]*)\|([^{}|]*)\}/g, (_, server: string, file: string) => (on === 'server' ? server : file))
    .replaceAll(/(?<![:\w]):([a-z_]+)/g, (_, name: string) => valueOf(name));
}
