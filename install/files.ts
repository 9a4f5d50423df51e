import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';

/** Facts to know of a file before it is replaced. */
interface FileFacts {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Number of its names. */
  readonly links: number;
  readonly isFile: boolean;
  readonly modifiedMs: number;
}

/** The file system, as far as it is used: each call is done when it returns, so that nothing comes between two of them but other processes. */
export interface Files {
  /** Undefined when there is no such file. */
  read(path: string): Buffer | undefined;
  facts(path: string): FileFacts | undefined;
  /** Without symbolic links; undefined when it leads nowhere. */
  realPath(path: string): string | undefined;
  /** Names in a directory; none when it is not there. */
  list(path: string): readonly string[];
  /** A new file that is on the disk when this returns. @throws when there is one. */
  create(
    path: string,
    bytes: Buffer,
    dress: { readonly mode: number; readonly uid?: number; readonly gid?: number },
  ): void;
  rename(from: string, to: string): void;
  /** Nothing happens when it is not there. */
  remove(path: string): void;
  /** With those above it, for its owner alone. */
  ensureDirectory(path: string): void;
  /** False when it is there already. */
  makeDirectory(path: string): boolean;
  removeDirectory(path: string): void;
}

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

/** Files of this machine. */
export const systemFiles: Files = {
  read: (path) => unlessMissing(() => readFileSync(path)),
  facts: (path) =>
    unlessMissing(() => {
      const stat = statSync(path);
      const { mode, uid, gid, nlink, mtimeMs } = stat;
      return { mode, uid, gid, links: nlink, isFile: stat.isFile(), modifiedMs: mtimeMs };
    }),
  realPath: (path) => unlessMissing(() => realpathSync(path)),
  list: (path) => unlessMissing(() => readdirSync(path)) ?? [],
  create(path, bytes, { mode, uid, gid }) {
    const handle = openSync(path, 'wx', 0o600);
    try {
      writeFileSync(handle, bytes);
      if (uid !== undefined && gid !== undefined) fchownSync(handle, uid, gid);
      fchmodSync(handle, mode & 0o7777);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  },
  rename: (from, to) => renameSync(from, to),
  remove: (path) => unlessMissing(() => unlinkSync(path)),
  ensureDirectory: (path) => void mkdirSync(path, { recursive: true, mode: 0o700 }),
  makeDirectory(path) {
    try {
      mkdirSync(path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  },
  removeDirectory: (path) => unlessMissing(() => rmdirSync(path)),
};
