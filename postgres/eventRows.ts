import { type EventQuery, type EventRow, childMarks, parseMetadata, searched, subjectsOf } from '../src/store/face.ts';
import type { PgRow } from './pgDriver.ts';

/** A question, and its values. */
export interface Selection {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Longest time of a transaction of ours from the id of an event to its commit, and more: its statements are cut after 5 s. */
const longestCommit = `interval '30 s'`;

/**
 * SQL for the id up to which the events behind `from` are all there. Ids are given out before the commit, so that a lower one may be committed later:
 * up to such a gap alone a tail may go on. A gap stays where a transaction was rolled back; it counts as one when the event behind it is older than
 * any transaction can be. (That `xid` is below the oldest one in progress would not do: ids are not in the order of transactions, and whoever else
 * writes to the server for an hour would hold up the tail for it.)
 */
export function settledId(from: string): string {
  return `(SELECT coalesce(
      (SELECT min(e.before) FROM (
        SELECT id, added_at, lag(id, 1, old.id) OVER (ORDER BY id) AS before FROM uw.event WHERE id > old.id) e
        WHERE e.id > e.before + 1 AND e.added_at > clock_timestamp() - ${longestCommit}),
      (SELECT max(id) FROM uw.event), 0)
    FROM (SELECT coalesce((
      SELECT id FROM uw.event WHERE id > ${from} AND added_at <= clock_timestamp() - ${longestCommit}
      ORDER BY id DESC LIMIT 1), ${from}) AS id) old)`;
}

/** Selects those of a query: behind an id the next, else the newest. */
export function selectEvents(query: EventQuery): Selection {
  const { since, until, category, integration, session, text, failed = false, limit, after, before, among } = query;
  const conditions: string[] = ['true'];
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  if (after !== undefined) {
    const from = `${value(after)}::bigint`;
    conditions.push(`id > ${from}`, `id <= ${settledId(from)}`);
  }
  if (before !== undefined) conditions.push(`id < ${value(before)}`);
  if (among !== undefined) {
    conditions.push(
      `id >= coalesce(${value(before ?? null)}::bigint, (SELECT max(id) + 1 FROM uw.event)) - ${value(among)}::bigint`,
    );
  }
  if (since !== undefined) conditions.push(`at >= ${value(Math.ceil(since))}`);
  if (until !== undefined) conditions.push(`at < ${value(Math.ceil(until))}`);
  if (category !== undefined) conditions.push(`category = ${value(category)}`);
  if (failed) conditions.push('failed');
  if (integration !== undefined) {
    const asked = subjectsOf(integration).map(({ name, pid }) => {
      const marks = childMarks(name).map((mark) => `strpos(metadata, ${value(mark)}) > 0`);
      const isNamed = `(integration = ${value(name)} OR ${marks.join(' OR ')})`;
      return pid === undefined ? isNamed : `(${isNamed} AND pid = ${value(pid)}::bigint)`;
    });
    conditions.push(`(${asked.join(' OR ')})`);
  }
  if (session !== undefined) conditions.push(`${value(session)} = ANY (sessions)`);
  if (text !== undefined) {
    conditions.push(
      `strpos(lower((category || '/' || type || ' ' || metadata) COLLATE "C"), ${value(searched(text))}) > 0`,
    );
  }
  return {
    text: `SELECT id, at, category, type, metadata FROM uw.event
      WHERE ${conditions.join(' AND ')} ORDER BY id ${after === undefined ? 'DESC' : 'ASC'} LIMIT ${value(limit)}`,
    values,
  };
}

/** Oldest first, as the query was. */
export function eventsIn(rows: readonly PgRow[], { after }: EventQuery): readonly EventRow[] {
  const events = rows.map(toEvent);
  return after === undefined ? events.reverse() : events;
}

function toEvent(row: PgRow): EventRow {
  return {
    id: Number(row['id']),
    at: Number(row['at']),
    category: String(row['category']),
    type: String(row['type']),
    metadata: parseMetadata(row['metadata']),
  };
}
