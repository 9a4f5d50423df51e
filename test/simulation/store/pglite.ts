/** What is used of PGlite: PostgreSQL in this process, with one session. */
export interface Pglite {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  exec(text: string): Promise<unknown>;
}

interface PgliteModule {
  readonly PGlite: { create(options: Readonly<Record<string, unknown>>): Promise<Pglite> };
}

/** Its name in a variable: who has not installed it can read and check everything else. */
const pglitePackage: string = '@electric-sql/pglite';
const int8 = 20;

let started: Promise<Pglite> | undefined;

/** The database of this process: it takes seconds to start. A `bigint` is a text, as `pg` gives it. */
export function startPglite(): Promise<Pglite> {
  started ??= start();
  return started;
}

async function start(): Promise<Pglite> {
  const { PGlite } = (await import(pglitePackage)) as PgliteModule;
  return PGlite.create({ parsers: { [int8]: String } });
}
