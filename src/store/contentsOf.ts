import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isOpenHere } from './sqlite/sqlConnection.ts';

/** Kind of a file by its beginning: `unknown` where this user may not read it. An empty file becomes a database. */
export type Contents = 'sqlite' | 'empty' | 'other' | 'unknown';

/** Every SQLite database begins with it. */
const header = 'SQLite format 3\0';

/** Tells what a file is by its beginning. A device or a pipe is not read from, nor what this process has open as a database. Never throws. */
export function contentsOf(path: string): Contents {
  let file: number | undefined;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isFile() !== true) return 'other';
    if (isOpenHere(stats)) return stats.size === 0 ? 'empty' : 'sqlite';
    file = openSync(path, 'r');
    const bytes = Buffer.alloc(header.length);
    const count = readSync(file, bytes, 0, bytes.length, 0);
    if (count === 0) return 'empty';
    return bytes.toString('latin1', 0, count) === header ? 'sqlite' : 'other';
  } catch {
    return 'unknown';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
