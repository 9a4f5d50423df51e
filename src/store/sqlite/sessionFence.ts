import type { Database } from './database.ts';

/** A session as a runtime has claimed it. */
export interface Claimed {
  readonly session: string;
  /** The runtime that claimed it. */
  readonly runtime: string;
  readonly fence: number;
}

/** Tells whether a session is still whose it was. @param transaction - another object for each. */
export type Fence = (database: Database, transaction: object) => boolean;

/**
 * Asks whether a session is still whose it was: once a transaction, which holds the lock on writing from its begin to its end.
 * @returns the question; its second argument is another object for each transaction.
 */
export function createFence({
  session,
  runtime,
  fence,
}: Claimed): (database: Database, transaction: object) => boolean {
  let asked: object | undefined;
  let held = false;

  function ask(database: Database): boolean {
    const row = database.prepare('SELECT owner, fence FROM unwedge_sessions WHERE id = ?').get(session);
    if (row !== undefined) return row['owner'] === runtime && row['fence'] === fence;
    // A session that nobody has is in a file that was replaced while this one was running.
    database.prepare('INSERT INTO unwedge_sessions (id, owner, fence) VALUES (?, ?, ?)').run(session, runtime, fence);
    return true;
  }

  return (database, transaction) => {
    if (asked !== transaction) {
      held = ask(database);
      asked = transaction;
    }
    return held;
  };
}
