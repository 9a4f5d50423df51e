import { type Stats, statSync } from 'node:fs';
import { readString } from '../../src/policy/errorChain.ts';

/** Returns the target of a path; undefined when there is nothing. @throws what the file system reports otherwise, such as that it may not be looked at. */
export function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const code = readString(error, 'code');
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
