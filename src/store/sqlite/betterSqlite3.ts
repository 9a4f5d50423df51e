import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Driver, OpenOptions } from './database.ts';
import { type RawDatabase, wrapDatabase } from './sqlConnection.ts';
import { messageOf } from '../../policy/failures/thrown.ts';

type Constructor = new (
  path: string,
  options: { readonly: boolean; fileMustExist: boolean; timeout: number; nativeBinding?: string },
) => RawDatabase;

/**
 * better-sqlite3, imported only here and only now. Installed without its install script (`--ignore-scripts`, npm 12) the
 * package is there but its binary is not, which only opening a database shows.
 */
export async function loadBetterSqlite3(node: string = process.versions.node): Promise<Driver> {
  try {
    const require = createRequire(import.meta.url);
    const { version } = require('better-sqlite3/package.json') as { version: string };
    if (canAbort(version, node)) throw new Error(`${version} can abort Node ${node}`);
    const Connection = require('better-sqlite3') as Constructor;
    const nativeBinding = join(
      dirname(require.resolve('better-sqlite3/package.json')),
      'build/Release/better_sqlite3.node',
    );
    // To look for its binary in all places where it may be takes the package as long as the rest of a database's opening.
    const where = existsSync(nativeBinding) ? { nativeBinding } : {};
    const open = (path: string, { readOnly = false, busyTimeoutMs: timeout }: OpenOptions) =>
      wrapDatabase(new Connection(path, { readonly: readOnly, fileMustExist: readOnly, timeout, ...where }), path);
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
