import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeOwnFile } from '../../actors/process/ownFile.ts';
import { judge, type ProcessIdentity, seeNow } from '../../actors/process/processIdentity.ts';
import { contentsOf } from '../contentsOf.ts';
import type { ChildMark } from '../tables/children.ts';

/**
 * Files beside the database, one for each process with children on record: by them a short-lived command learns that a dead one may have
 * left some, and need not open the database for that. The database is the truth: a mark too many costs one look.
 */
const infix = '-children-';

/** The mark of one store of this process. @param database - absolute path. */
export function createChildMark(database: string): ChildMark {
  const path = `${database}${infix}${process.pid}.${++lastNumber}`;
  return {
    leave({ start }) {
      // Beside a file that is no database nobody would look for it.
      if (existsSync(database) && contentsOf(database) === 'other') return;
      quietly(() => writeOwnFile(path, start));
    },
    remove: () => quietly(() => rmSync(path, { force: true })),
    clear(owners) {
      for (const mark of marksOf(database)) {
        if (!owners.has(mark.pid) && !isAlive(mark)) quietly(() => rmSync(mark.path, { force: true }));
      }
    },
  };
}

let lastNumber = 0;

/** Tells whether a process that had children on record is no longer there, or it cannot be told at once. Never throws. */
export function hasMarkOfDead(database: string): boolean {
  return marksOf(database).some((mark) => !isAlive(mark));
}

function marksOf(database: string): readonly (ProcessIdentity & { readonly path: string })[] {
  const directory = dirname(database);
  const start = `${basename(database)}${infix}`;
  return (quietly(() => readdirSync(directory)) ?? [])
    .filter((name) => name.startsWith(start) && /^\d+\.\d+$/.test(name.slice(start.length)))
    .map((name) => {
      const path = join(directory, name);
      const pid = Number.parseInt(name.slice(start.length), 10);
      return { path, pid, start: quietly(() => readFileSync(path, 'utf8')) ?? '' };
    });
}

function isAlive(mark: ProcessIdentity): boolean {
  const world = seeNow([mark.pid]);
  return world !== undefined && judge(world, mark) === 'alive';
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // A directory that cannot be written to has no database either.
    return undefined;
  }
}
