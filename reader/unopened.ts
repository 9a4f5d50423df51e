import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasMarkOfDead } from '../src/store/sqlite/face.ts';

/**
 * Tells whether a store can be kept there, as far as that is told without opening it. Never throws.
 * @param path - as `storePath` gives it.
 */
export function canBeKept(path: string): boolean {
  return path === ':memory:' || isWritable(path);
}

/**
 * Tells whether a process that had children on record is no longer there, or that cannot be told without opening the store. Never throws.
 * @param path - as `storePath` gives it.
 */
export function mayHaveOrphans(path: string): boolean {
  return path !== ':memory:' && hasMarkOfDead(path);
}

/** A file that can be written, or room for one. */
function isWritable(path: string): boolean {
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
