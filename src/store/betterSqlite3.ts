import type { Driver, OpenOptions } from './database.ts';
import { type RawDatabase, wrapDatabase } from './sqlConnection.ts';

type Constructor = new (
  path: string,
  options: { readonly: boolean; fileMustExist: boolean; timeout: number },
) => RawDatabase;

/**
 * better-sqlite3, imported only here and only now. Installed without its install script (`--ignore-scripts`, npm 12) the
 * package is there but its binary is not, which only opening a database shows.
 */
export async function loadBetterSqlite3(): Promise<Driver> {
  try {
    const { default: Connection } = (await import('better-sqlite3')) as { default: Constructor };
    const open = (path: string, { readOnly = false, busyTimeoutMs }: OpenOptions) =>
      wrapDatabase(new Connection(path, { readonly: readOnly, fileMustExist: readOnly, timeout: busyTimeoutMs }));
    open(':memory:', { busyTimeoutMs: 0 }).close();
    return { kind: 'better-sqlite3', open };
  } catch (error) {
    throw new Error(`better-sqlite3: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
