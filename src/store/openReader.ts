import type { StoreReader } from './storeReader.ts';
import type { DriverLoader } from './sqlite/database.ts';
import { isPostgresUrl, shownUrl } from '../policy/postgresUrl.ts';
import { openSqliteReader } from './sqlite/reader.ts';

/**
 * Opens a store of other processes for reading.
 * @param path - as `storePath` gives it.
 * @throws an Error that names the path and what to do when there is nothing to read.
 */
export async function openReader(path: string, loaders?: readonly DriverLoader[]): Promise<StoreReader> {
  if (path === ':memory:') throw new Error('A database in memory can be read by its own process only');
  if (isPostgresUrl(path))
    throw new Error(`${shownUrl(path)} cannot be read from the command line yet: ask the database`);
  return openSqliteReader(path, loaders);
}
