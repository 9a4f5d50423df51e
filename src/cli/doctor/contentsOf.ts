import { closeSync, openSync, readSync } from 'node:fs';
import { lookAt } from './lookAt.ts';

/** What a file is by its beginning: `unknown` where this user may not read it. An empty file becomes a database. */
export type Contents = 'sqlite' | 'empty' | 'other' | 'unknown';

/** Every SQLite database begins with it. */
const header = 'SQLite format 3\0';

/** What a file is by its beginning. A device or a pipe is not read from. */
export function contentsOf(path: string): Contents {
  if (lookAt(path)?.isFile() !== true) return 'other';
  let file: number | undefined;
  try {
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
