import type { StoreReader } from './storeReader.ts';
import type { DriverLoader } from '../src/store/sqlite/face.ts';
import { isPostgresUrl } from '../src/policy/text/face.ts';
import { openSqliteReader } from './sqlite/reader.ts';

/**
 * Opens a store of other processes for reading.
 * @param path - as `storePlace` gives it.
 * @throws an Error that names the path and what to do when there is nothing to read.
 */
export async function openReader(path: string, loaders?: readonly DriverLoader[]): Promise<StoreReader> {
  if (path === ':memory:') throw new Error('A database in memory can be read by its own process only');
  // Loaded by those who name one alone.
  if (isPostgresUrl(path)) return (await import('../postgres/reader/openPgReader.ts')).openPgReader(path);
  return openSqliteReader(path, loaders);
}
