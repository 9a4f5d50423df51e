import { step } from '../work.ts';
import type { Prunable, Pruned } from '../pruner.ts';
import type { Database } from './database.ts';
import { isForgettable } from '../tables/ledger.ts';
import { doRow, fileText } from './fileTables.ts';
import type { Schema } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** A file as what is old is deleted from it, in the event loop. @param now - monotonic time in ms. */
export function prunedFile(file: StoreFile, now: () => number): Prunable {
  /** Undefined when the store is out of order, or closed. */
  async function timed<T>(
    work: (database: Database, schema: Schema) => T,
  ): Promise<(T & { tookMs: number }) | undefined> {
    if (file.degraded) return undefined;
    return file.transact(
      (database, schema) => {
        const since = now();
        const done = work(database, schema);
        return { ...done, tookMs: now() - since };
      },
      { awaited: false },
    );
  }
  return {
    stepRows: { first: 100, least: 10, most: 500 },
    endsWithStep: true,
    takes: async () => true,
    // In a database of somebody else the size is theirs: 0 says that it is not judged.
    bytes: async () => (await timed((database, { ours }) => ({ bytes: ours ? usedBytes(database) : 0 })))?.bytes,
    events: (before, most) => timed((database, schema) => pruneEvents(database, schema, before, most)),
    rows: (made, before, most) =>
      timed((database) => {
        const rows = doRow(database, step(made, '', { before, most })).length;
        return { rows, more: rows === most };
      }),
    sessions: (after, before, most) => timed((database) => pruneSession(database, after, before, most)),
  };
}

/** Bytes in use: pages that were freed stay in the file and are used again. */
export function usedBytes(database: Database): number {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

/** Deletes nothing of a table that is not ours: its rows cannot be told from ours. */
function pruneEvents(database: Database, { ours, eventTable }: Schema, before: number, most: number): Pruned {
  if (!ours && eventTable === 'events') return { rows: 0, more: false };
  const rows = database
    .prepare(`DELETE FROM ${eventTable} WHERE rowid IN (SELECT rowid FROM ${eventTable} WHERE timestamp < ? LIMIT ?)`)
    .run(before, most);
  return { rows, more: rows === most };
}

/**
 * Looks at the first `limit` calls and messages of the next session after `after`, and deletes those that ended before. The limit bounds
 * the time, however long the session is. A session that a runtime owns keeps its last message, and counts on from it. A session without
 * an owner is deleted when nothing of it is left.
 * @returns `next`: after which session to go on; undefined when there are no more.
 */
export function pruneSession(
  database: Database,
  after: string,
  before: number,
  limit: number,
): { readonly rows: number; readonly next: string | undefined } {
  const row = database.prepare('SELECT id, owner FROM unwedge_sessions WHERE id > ? ORDER BY id LIMIT 1').get(after);
  if (row === undefined) return { rows: 0, next: undefined };
  const session = String(row['id']);
  const owner = row['owner'];
  const isOwned =
    typeof owner === 'string' &&
    database.prepare('SELECT 1 FROM unwedge_runtimes WHERE id = ?').get(owner) !== undefined;
  const calls = database
    .prepare(
      fileText(`DELETE FROM uw.call WHERE id IN
         (SELECT id FROM (SELECT id, session, state, settled_at FROM uw.call c
            WHERE session = ? AND ${isForgettable('c', 'c.session')} ORDER BY turn LIMIT ?)
          WHERE state = 'settled' AND settled_at < ?)`),
    )
    .run(session, limit, before);
  const messages = deleteMessages(
    database,
    session,
    before,
    isOwned ? lastMessage(database, session) : Infinity,
    limit,
  );
  if (calls + messages > 0) return { rows: calls + messages, next: after };
  const gone = isOwned ? 0 : deleteEmpty(database, session);
  return { rows: calls + messages + gone, next: session };
}

/** @param below - messages of this number and above stay. */
function deleteMessages(database: Database, session: string, before: number, below: number, limit: number): number {
  return database
    .prepare(
      `DELETE FROM unwedge_messages WHERE session = ? AND number IN
         (SELECT number FROM
            (SELECT number, state, ended_at FROM unwedge_messages WHERE session = ? AND number < ? ORDER BY number LIMIT ?)
          WHERE state NOT IN ('waiting', 'taken') AND ended_at < ?)`,
    )
    .run(session, session, below, limit, before);
}

function lastMessage(database: Database, session: string): number {
  const row = database.prepare('SELECT max(number) AS last FROM unwedge_messages WHERE session = ?').get(session);
  return Number(row?.['last'] ?? 0);
}

function deleteEmpty(database: Database, session: string): number {
  return database
    .prepare(
      `DELETE FROM unwedge_sessions WHERE id = ?
         AND NOT EXISTS (SELECT 1 FROM unwedge_messages WHERE session = id)
         AND NOT EXISTS (SELECT 1 FROM unwedge_calls WHERE session = unwedge_sessions.id)`,
    )
    .run(session);
}
