import { createRequire } from 'node:module';
import type { Driver, OpenOptions } from './database.ts';
import { type RawDatabase, wrapDatabase } from './sqlConnection.ts';
import { messageOf } from '../../policy/failures/thrown.ts';

type Constructor = new (
  path: string,
  options: { readonly: boolean; fileMustExist: boolean; timeout: number },
) => RawDatabase;

/**
 * better-sqlite3, imported only here and only now. Installed without its install script (`--ignore-scripts`, npm 12) the
 * package is there but its binary is not, which only opening a database shows.
 */
export async function loadBetterSqlite3(node: string = process.versions.node): Promise<Driver> {
  try {
    const { version } = createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string };
    if (canAbort(version, node)) throw new Error(`${version} can abort Node ${node}`);
    const { default: Connection } = (await import('better-sqlite3')) as { default: Constructor };
    const open = (path: string, { readOnly = false, busyTimeoutMs }: OpenOptions) =>
      wrapDatabase(new Connection(path, { readonly: readOnly, fileMustExist: readOnly, timeout: busyTimeoutMs }), path);
    open(':memory:', { busyTimeoutMs: 0 }).close();
    return { kind: 'better-sqlite3', open };
  } catch (error) {
    throw new Error(`better-sqlite3: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Tells whether this version of better-sqlite3 can abort the process on this Node. Before 13, one compiled with the headers of Node 24.19 or newer does when
 * a statement is collected while no JavaScript runs; a binary does not tell its headers.
 */
export function canAbort(version: string, node: string): boolean {
  return Number.parseInt(version, 10) < 13 && Number.parseInt(node, 10) >= 24;
}
