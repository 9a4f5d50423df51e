import { existsSync, readFileSync, rmSync } from 'node:fs';
import { writeOwnFile } from '../../actors/process/ownFile.ts';
import type { MessageEnd } from '../../sessions/sessionStore.ts';
import { type Contents, contentsOf } from '../contentsOf.ts';
import { statement } from '../dialect.ts';
import { fromJson, toJson } from '../../policy/text/storedJson.ts';
import { type RowStep, step } from '../work.ts';
import type { Claimed } from './keptWrite.ts';

/** End of a message, of which its sender may have heard. */
export interface OwedEnd extends Claimed {
  readonly number: number;
  readonly end: MessageEnd;
  /** Wall time in ms since the epoch. */
  readonly at: number;
}

/**
 * Marks beside the database of runs that have ended and could not say so in it, as it was locked or full. Their process may live on, and
 * their sessions would be held until their lease is over.
 */
export interface LeftRuns {
  /** Ends that could not be written so far; one that is written after all is taken out. */
  readonly owed: Set<OwedEnd>;
  /** Rows for the ends that a run has left in its mark: their messages are not delivered again. */
  settle(id: string): readonly RowStep[];
  /** Never throws: where no mark can be made, the lease has to run out. */
  mark(id: string): void;
  has(id: string): boolean;
  /** The run is no longer in the database. Never throws. */
  forget(id: string): void;
}

/** Contents that may hold a row of the run: a file that is no database has none, and gets no other beside it. */
const holdsRows: ReadonlySet<Contents> = new Set(['sqlite', 'empty', 'unknown']);

/** Only those of the claim that is still the last: after another one the message may have been delivered again. */
const settle = statement(
  'settle_left',
  'end text, at bigint, session text, number bigint, owner text, fence bigint',
  `UPDATE uw.message SET state = :end, ended_at = :at
   WHERE session = :session AND number = :number AND state IN ('waiting', 'taken')
     AND EXISTS (SELECT 1 FROM uw.lease WHERE id = :session AND owner = :owner AND fence = :fence)`,
);

/** @param path - of the database, absolute. */
export function createLeftRuns(path: string): LeftRuns {
  const markOf = (id: string): string => `${path}-left-${id}`;
  const owed = new Set<OwedEnd>();
  return {
    owed,
    settle: (owner) => readEnds(markOf(owner)).map((end) => step(settle, owner, { owner, ...end })),
    mark(id) {
      quietly(() => {
        // Without a database there is no row of the run that could hold a session, and nobody who would take the mark away.
        if (!holdsRows.has(contentsOf(path))) return;
        writeOwnFile(markOf(id), toJson([...owed].filter(({ runtime }) => runtime === id)));
      });
    },
    has: (id) => existsSync(markOf(id)),
    forget(id) {
      quietly(() => rmSync(markOf(id), { force: true }));
    },
  };
}

/** None where the mark cannot be read, or was not made by this version. */
function readEnds(mark: string): readonly OwedEnd[] {
  let ends: unknown;
  quietly(() => {
    ends = fromJson(readFileSync(mark, 'utf8'))?.value;
  });
  return Array.isArray(ends) ? ends.filter(isEnd) : [];
}

function isEnd(value: unknown): value is OwedEnd {
  if (typeof value !== 'object' || value === null) return false;
  const { session, number, fence, end, at } = value as Readonly<Record<string, unknown>>;
  const isKnown = end === 'done' || end === 'failed' || end === 'dropped';
  return isKnown && typeof session === 'string' && [number, fence, at].every((field) => Number.isFinite(field));
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A directory that takes no file: nothing else can be said there.
  }
}
