import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Tells whether a database can be kept there as far as the file system tells without opening it: a file that can be written, or room for one. Never throws.
 * @param path - absolute.
 */
export function isWritable(path: string): boolean {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false });
    if (isThere !== undefined && !isThere.isFile()) return false;
    const where = isThere === undefined ? existing(dirname(path)) : path;
    accessSync(where, constants.W_OK);
    return isThere !== undefined || statSync(where).isDirectory();
  } catch {
    return false;
  }
}

/** Directories that are not there yet are made with the database. */
function existing(directory: string): string {
  const above = dirname(directory);
  return above === directory || statSync(directory, { throwIfNoEntry: false }) !== undefined
    ? directory
    : existing(above);
}
