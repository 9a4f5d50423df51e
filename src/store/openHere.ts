import { type Stats, statSync } from 'node:fs';

/** Number of connections of this process that have a database open, by the identity of its file. */
const connections = new Map<string, number>();

const dropped = new FinalizationRegistry<() => void>((takeBack) => takeBack());

/** Device and inode, by which a file is known again. */
export function identityOf(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}

/**
 * Notes that this process has opened the database at `path`. Whoever reads a file has to ask {@link isOpenHere} first: to close any
 * descriptor of a file takes all locks off it that its process has (POSIX). Another process then takes itself for the only one that has
 * the database open, and deletes its log at the end.
 * @param connection - one that nobody has any more is closed by its driver, and its note goes with it: the file system gives inodes out again.
 * @returns takes the note back, when the connection is closed.
 */
export function noteOpened(path: string, connection: object): () => void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return () => undefined;
  const identity = identityOf(stats);
  connections.set(identity, (connections.get(identity) ?? 0) + 1);
  let isNoted = true;
  const takeBack = (): void => {
    if (!isNoted) return;
    isNoted = false;
    const left = (connections.get(identity) ?? 0) - 1;
    if (left > 0) connections.set(identity, left);
    else connections.delete(identity);
  };
  dropped.register(connection, takeBack);
  return takeBack;
}

/** Tells whether a connection of this process has the file open. */
export const isOpenHere = (stats: Stats): boolean => connections.has(identityOf(stats));
