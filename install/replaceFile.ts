import { basename, dirname, join } from 'node:path';
import type { Files } from './files.ts';

/**
 * Puts a new content in the place of a file, whole or not at all: it is written beside it, is on the disk, and gets its name then.
 * @param check - throws when it must not happen after all; called last of all.
 */
export function replaceFile(
  files: Files,
  path: string,
  bytes: Buffer,
  dress: { readonly mode: number; readonly uid?: number; readonly gid?: number },
  check: () => void = () => undefined,
): void {
  const temporary = join(dirname(path), `.${basename(path)}${ending}`);
  // It is of one that was killed; two at a time there are not (see `withLock`).
  files.remove(temporary);
  try {
    files.create(temporary, bytes, dress);
    check();
    files.rename(temporary, path);
  } catch (error) {
    files.remove(temporary);
    throw error;
  }
}

const ending = '.unwedge.tmp';

/** Tells whether a name is that of a file that is being written, or was when its process was killed. */
export const isTemporary = (name: string): boolean => name.endsWith(ending);
