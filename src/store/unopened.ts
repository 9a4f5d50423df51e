import { hasMarkOfDead } from './sqlite/childMarks.ts';
import { isWritable } from './sqlite/writable.ts';

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
