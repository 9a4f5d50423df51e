import {
  alertDeliveries,
  checkQuery,
  childOf,
  type EventQuery,
  type EventRow,
  failureTypes,
  parseMetadata,
  searched,
} from '../events.ts';
import { childMarks, type Subject, subjectsOf } from '../eventSubjects.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';

/**
 * Events of the table given, oldest first.
 * @throws TypeError or RangeError for a wrong query, or what SQLite reports.
 */
export function selectEvents(database: Database, table: string, query: EventQuery): EventRow[] {
  checkQuery(query);
  const { since, until, category, integration, session, text, failed = false, limit, after, before, among } = query;
  const conditions: string[] = ['1'];
  const values: SqlValue[] = [];
  const narrow = (condition: string, ...given: SqlValue[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (after !== undefined) narrow('rowid > ?', after);
  if (before !== undefined) narrow('rowid < ?', before);
  if (among !== undefined)
    narrow(`rowid >= coalesce(?, (SELECT max(rowid) + 1 FROM ${table})) - ?`, before ?? null, among);
  if (since !== undefined) narrow('timestamp >= ?', since);
  if (until !== undefined) narrow('timestamp < ?', until);
  if (category !== undefined) narrow('category = ?', category);
  // As `wentWrong` says it.
  if (failed) {
    narrow(`category || '/' || event_type IN (${failureTypes.map(() => '?').join(', ')})`, ...failureTypes);
    narrow(
      `(coalesce(${field('kind')}, '') <> 'cancelled' OR ${field('integration')} IN (${alertDeliveries.map(() => '?').join(', ')}))`,
      ...alertDeliveries,
    );
    narrow(`(event_type <> 'calls_lost' OR ${field('lost')} IS NOT 0)`);
  }
  if (integration !== undefined) {
    const asked = subjectsOf(integration).map(ofSubject);
    narrow(`(${asked.map(([condition]) => condition).join(' OR ')})`, ...asked.flatMap(([, ...given]) => given));
  }
  if (session !== undefined) {
    // The text first, which costs less than to read the JSON of every row.
    narrow('instr(metadata, ?) > 0', JSON.stringify(session).slice(1, -1));
    narrow(`(? IN (${field('session')}, ${field('session_key')}) OR ${field('child')} = ?)`, session, childOf(session));
  }
  if (text !== undefined)
    narrow("instr(lower(category || '/' || event_type || ' ' || metadata), ?) > 0", searched(text));
  const rows = database
    .prepare(
      `SELECT rowid AS row, timestamp, category, event_type, metadata FROM ${table}
       WHERE ${conditions.join(' AND ')} ORDER BY rowid ${after === undefined ? 'DESC' : 'ASC'} LIMIT ?`,
    )
    .all(...values, limit);
  if (after === undefined) rows.reverse();
  return rows.map(toEvent);
}

/** A condition, and its values. */
function ofSubject({ name, pid }: Subject): readonly [condition: string, ...values: SqlValue[]] {
  const marks = childMarks(name);
  const isNamed = `(${field('integration')} = ? OR ${marks.map(() => 'instr(metadata, ?) > 0').join(' OR ')})`;
  const written = JSON.stringify(name).slice(1, -1);
  // The name first, which most rows have not.
  const condition = `(instr(metadata, ?) > 0 AND ${isNamed}${pid === undefined ? '' : ` AND ${field('runtime_pid')} = ?`})`;
  return [condition, written, name, ...marks, ...(pid === undefined ? [] : [pid])];
}

/** SQL for a field of the metadata; a foreign table may hold text that is no JSON. */
export function field(name: string): string {
  return `CASE WHEN json_valid(metadata) THEN json_extract(metadata, '$.${name}') END`;
}

function toEvent(row: SqlRow): EventRow {
  return {
    id: Number(row['row']),
    at: Number(row['timestamp']),
    category: String(row['category']),
    type: String(row['event_type']),
    metadata: parseMetadata(row['metadata']),
  };
}
