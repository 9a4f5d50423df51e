import * as fs from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The code of a system call's error. */
function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** The file system, as far as it is used: each call is done when it returns, so that nothing comes between two of them but other processes. */
export type Files = typeof systemFiles;

/** Mode and owner that a new file gets. */
export interface Dress {
  readonly mode: number;
  readonly uid?: number;
  readonly gid?: number;
}

/** Files of this machine. */
export const systemFiles = {
  /** Undefined when there is no such file. */
  read: (path: string) => unlessMissing(() => fs.readFileSync(path)),
  /** Facts to know of a file before it is replaced; `links`: the number of its names. */
  facts: (path: string) =>
    unlessMissing(() => {
      const stat = fs.statSync(path);
      const { mode, uid, gid, nlink: links, mtimeMs: modifiedMs } = stat;
      return { mode, uid, gid, links, isFile: stat.isFile(), modifiedMs };
    }),
  /** Without symbolic links; undefined when it leads nowhere. */
  realPath: (path: string) => unlessMissing(() => fs.realpathSync(path)),
  /** Names in a directory; none when it is not there. */
  list: (path: string): readonly string[] => unlessMissing(() => fs.readdirSync(path)) ?? [],
  /** A new file that is on the disk when this returns. @throws when there is one. */
  create(path: string, bytes: Buffer, { mode, uid, gid }: Dress): void {
    const handle = fs.openSync(path, 'wx', 0o600);
    try {
      fs.writeFileSync(handle, bytes);
      if (uid !== undefined && gid !== undefined) fs.fchownSync(handle, uid, gid);
      fs.fchmodSync(handle, mode & 0o7777);
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
  },
  rename: (from: string, to: string) => fs.renameSync(from, to),
  /** Nothing happens when it is not there. */
  remove: (path: string) => unlessMissing(() => fs.unlinkSync(path)),
  /** With those above it, for its owner alone. */
  ensureDirectory: (path: string) => void fs.mkdirSync(path, { recursive: true, mode: 0o700 }),
  /** False when it is there already. */
  makeDirectory(path: string): boolean {
    try {
      fs.mkdirSync(path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  },
  removeDirectory: (path: string) => unlessMissing(() => fs.rmdirSync(path)),
};

/**
 * Puts a new content in the place of a file, whole or not at all: it is written beside it, is on the disk, and gets its name then.
 * @param check - throws when it must not happen after all; called last of all.
 */
export function replaceFile(
  files: Files,
  path: string,
  bytes: Buffer,
  dress: Dress,
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
