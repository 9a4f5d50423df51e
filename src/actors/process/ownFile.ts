import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/**
 * Opens a file of ours to write to, made for its owner alone, where others may have put something in its place: no link is followed, and what has a
 * second name is the file of somebody else.
 * @returns its descriptor. @throws what the file system says against it.
 */
export function openOwnFile(path: string): number {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  if (fstatSync(file).nlink <= 1) return file;
  closeSync(file);
  throw new Error(`${path} has another name`);
}

/** Writes the text, in the place of what it held. @throws as {@link openOwnFile} does. */
export function writeOwnFile(path: string, text: string): void {
  const file = openOwnFile(path);
  try {
    ftruncateSync(file);
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}
