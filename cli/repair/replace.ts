import { constants, type Stats } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CommandError } from '../errors.ts';
import type { TranscriptFormat } from '../../transcript/detect.ts';
import type { TranscriptReport } from '../../transcript/findings.ts';

/** The content of a file, piece by piece. */
export type Pieces = AsyncIterable<Buffer | string>;

/**
 * Puts a new content in the place of a file and gives the path of its backup.
 * @param before - whose mode and owner the new file gets.
 * @param check - throws when it must not happen after all; called when the new content is safely on disk, and again just before
 * it is put there.
 */
export async function replaceFile(path: string, pieces: Pieces, before: Stats, check: () => void): Promise<string> {
  const dress = async (file: FileHandle): Promise<void> => {
    // Repaired by root it is still the user's; others may not give files away, nor need to.
    if (process.getuid?.() === 0) await file.chown(before.uid, before.gid);
    await file.chmod(before.mode & 0o7777);
  };
  return written(path, pieces, dress, async (temporary) => {
    check();
    const backup = await backUp(path);
    try {
      // Data that came meanwhile stands in the original alone.
      check();
      await rename(temporary, path);
    } catch (error) {
      await rm(backup, { force: true });
      throw error;
    }
    return backup;
  });
}

/** Writes a file that does not exist yet, whole or not at all. */
export async function writeNew(path: string, pieces: Pieces, mode: number, check: () => void): Promise<void> {
  const dress = (file: FileHandle): Promise<void> => file.chmod(mode & 0o7777);
  await written(path, pieces, dress, async (temporary) => {
    check();
    // Unlike a rename, a link never replaces what came to be there meanwhile.
    const isThere = await linked(temporary, path);
    if (isThere) throw new CommandError(`${path} exists already; nothing was written.`);
    await rm(temporary);
  });
}

async function written<T>(
  path: string,
  pieces: Pieces,
  dress: (file: FileHandle) => Promise<void>,
  place: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  const handle = await open(temporary, 'wx', 0o600);
  try {
    try {
      for await (const piece of pieces) await handle.writeFile(piece);
      await dress(handle);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return await place(temporary);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Most backups of one file that are kept apart. */
const mostBackups = 1000;

async function backUp(path: string): Promise<string> {
  for (let count = 1; count <= mostBackups; count++) {
    const backup = `${path}.bak${count === 1 ? '' : count}`;
    if (!(await linked(path, backup))) return backup;
  }
  throw new CommandError(`There are ${mostBackups} backups of ${path}; remove some. Nothing was done.`);
}

/** Gives a file a second name. Gives whether there is one of that name already. */
async function linked(path: string, name: string): Promise<boolean> {
  try {
    await link(path, name);
    return false;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return true;
  }
  // Not every file system has links.
  try {
    await copyFile(path, name, constants.COPYFILE_EXCL);
    return false;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return true;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** A repair that was worked out and not yet written. */
export interface Draft extends TranscriptReport {
  readonly format: TranscriptFormat | undefined;
  readonly unit: 'line' | 'entry';
  /** The repaired file, piece by piece. */
  readonly pieces: () => Pieces;
}

/** An open file and how to stop reading it. */
export interface Source {
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
  readonly signal: AbortSignal;
}
