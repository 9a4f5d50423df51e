import { existsSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Marks beside the database of runs that have ended and could not say so in it, as it was locked or full. Their process may live on, and
 * their sessions would be held until their lease is over.
 */
export interface LeftRuns {
  /** Never throws: where no mark can be made, the lease has to run out. */
  mark(id: string): void;
  has(id: string): boolean;
  /** The run is no longer in the database. Never throws. */
  forget(id: string): void;
}

/** @param path - of the database, absolute. */
export function createLeftRuns(path: string): LeftRuns {
  const markOf = (id: string): string => `${path}-left-${id}`;
  return {
    mark(id) {
      quietly(() => writeFileSync(markOf(id), '', { mode: 0o600 }));
    },
    has: (id) => existsSync(markOf(id)),
    forget(id) {
      quietly(() => rmSync(markOf(id), { force: true }));
    },
  };
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A directory that takes no file: nothing else can be said there.
  }
}
