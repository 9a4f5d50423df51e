import type { Files } from './files.ts';
import type { World } from './world.ts';

/** A lock that is held: a directory that its holder made. */
interface Lock {
  readonly path: string;
  /** From this age on its holder is taken for dead, in ms. */
  readonly staleMs: number;
}

/** Longest wait for a lock, in ms, and the time between two tries. */
const longestWaitMs = 10_000;
const retryMs = 100;

/** Another program holds a lock for longer than is waited. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Does the work while all locks are held. The work is synchronous, so that they are held for milliseconds and no signal comes between.
 * @throws {@link LockedError} when one is not to be had within 10 s.
 */
export async function withLocks<T>(world: World, locks: readonly Lock[], work: () => T): Promise<T> {
  const { files, signal, pause, now } = world;
  const until = now() + longestWaitMs;
  for (;;) {
    signal.throwIfAborted();
    const held: Lock[] = [];
    try {
      if (locks.every((lock) => take(files, lock, now()) && held.push(lock) > 0)) return work();
    } finally {
      for (const { path } of held.toReversed()) files.removeDirectory(path);
    }
    if (now() >= until)
      throw new LockedError(`${locks[held.length]?.path ?? ''} is there: another program is writing the file`);
    await pause(retryMs);
  }
}

function take(files: Files, { path, staleMs }: Lock, now: number): boolean {
  if (files.makeDirectory(path)) return true;
  const modifiedMs = files.facts(path)?.modifiedMs;
  if (modifiedMs === undefined || now - modifiedMs < staleMs) return false;
  files.removeDirectory(path);
  return files.makeDirectory(path);
}
