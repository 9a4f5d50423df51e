import type { Database } from './database.ts';
import type { Schema } from './schema.ts';

/** Result of one step. */
export interface Pruned {
  /** Rows it deleted. */
  readonly rows: number;
  /** True where there may be more. */
  readonly more: boolean;
}

/** Bytes in use: pages that were freed stay in the file and are used again. */
export function usedBytes(database: Database): number {
  const pragma = (name: string): number => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

/**
 * Deletes up to `limit` of the events older than `before`, wall time in ms since the epoch. Of a table that is not ours nothing: its rows
 * cannot be told from ours.
 */
export function pruneEvents(database: Database, { ours, eventTable }: Schema, before: number, limit: number): Pruned {
  if (!ours && eventTable === 'events') return { rows: 0, more: false };
  const rows = database
    .prepare(`DELETE FROM ${eventTable} WHERE rowid IN (SELECT rowid FROM ${eventTable} WHERE timestamp < ? LIMIT ?)`)
    .run(before, limit);
  return { rows, more: rows === limit };
}

/** Deletes up to `limit` of the alerts that were cleared before. */
export function pruneAlerts(database: Database, before: number, limit: number): Pruned {
  const rows = database
    .prepare('DELETE FROM unwedge_alerts WHERE id IN (SELECT id FROM unwedge_alerts WHERE cleared_at < ? LIMIT ?)')
    .run(before, limit);
  return { rows, more: rows === limit };
}

/** Deletes up to `limit` figures of minutes that began before. */
export function pruneStatistics(database: Database, before: number, limit: number): Pruned {
  const rows = database
    .prepare(
      `DELETE FROM unwedge_statistics WHERE (minute, integration, tool) IN
         (SELECT minute, integration, tool FROM unwedge_statistics WHERE minute >= 0 AND minute < ? LIMIT ?)`,
    )
    .run(before, limit);
  return { rows, more: rows === limit };
}

/** Deletes up to `limit` records of attempts that were written before, and policies that were last in force then. */
export function pruneFlights(database: Database, before: number, limit: number): Pruned {
  const rows = database
    .prepare('DELETE FROM unwedge_flights WHERE id IN (SELECT id FROM unwedge_flights WHERE at < ? LIMIT ?)')
    .run(before, limit);
  const policies = database
    .prepare(
      `DELETE FROM unwedge_policies WHERE (name, policy) IN
         (SELECT name, policy FROM unwedge_policies WHERE seen_at < ? LIMIT ?)`,
    )
    .run(before, limit);
  return { rows: rows + policies, more: rows === limit || policies === limit };
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
      `DELETE FROM unwedge_calls WHERE id IN
         (SELECT id FROM (SELECT id, state, settled_at FROM unwedge_calls WHERE session = ? ORDER BY turn LIMIT ?)
          WHERE state = 'settled' AND settled_at < ?)`,
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
