import { checkInteger, checkNumber } from '../policy/options.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';
import type { DatabaseReader } from './reader.ts';

/** Which events to read; what is left out does not narrow. */
export interface EventQuery {
  /** Wall time in ms since the epoch; events at it or later. */
  readonly since?: number | undefined;
  readonly category?: string | undefined;
  /** Its name, or `NAME@PID` for what the process of this id has recorded of it. */
  readonly integration?: string | undefined;
  /** Only what went wrong: failures, errors and crashes. */
  readonly failed?: boolean | undefined;
  /** Most events to give. At least 1. */
  readonly limit: number;
  /** Only events after the one with this id: the next `limit` of them, where without it the newest `limit` are given. */
  readonly after?: number | undefined;
  /** Only so many of the newest events are looked at, which bounds the time it takes. At least 1. @defaultValue all */
  readonly among?: number | undefined;
}

/** An event as it is read back. */
export interface EventRow {
  /** Grows in the order of recording. */
  readonly id: number;
  /** Wall time in ms since the epoch. */
  readonly at: number;
  readonly category: string;
  readonly type: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What counts as gone wrong, as `category/event_type`. */
export const failureTypes: readonly string[] = [
  'integration/failure',
  'integration/crashed',
  'integration/restart_failed',
  'hook/error',
  'approval/failed',
  'host/uncaught',
  'mcp/tool_error',
  'mcp/calls_lost',
  'session/tool_failed',
  'workflow/failed',
  'workflow/item_error',
  'session/watchdog_fired',
  'session/recovery_failed',
  'child/crashed',
  'child/quarantined',
  'supervisor/gave_up',
  'listener/failed',
  'store/degraded',
];

/**
 * Events of a database, oldest first.
 * @throws TypeError or RangeError for a wrong query, or what SQLite reports.
 */
export function readEvents(reader: DatabaseReader, query: EventQuery): EventRow[] {
  return selectEvents(reader.database, reader.eventTable, query);
}

/** Events of the table given, oldest first. */
export function selectEvents(database: Database, table: string, query: EventQuery): EventRow[] {
  checkQuery(query);
  const { since, category, integration, failed = false, limit, after, among } = query;
  const conditions: string[] = ['1'];
  const values: SqlValue[] = [];
  const narrow = (condition: string, ...given: SqlValue[]) => {
    conditions.push(condition);
    values.push(...given);
  };
  if (after !== undefined) narrow('rowid > ?', after);
  if (since !== undefined) narrow('timestamp >= ?', since);
  if (category !== undefined) narrow('category = ?', category);
  if (failed) narrow(`category || '/' || event_type IN (${failureTypes.map(() => '?').join(', ')})`, ...failureTypes);
  if (integration !== undefined) narrow(`? IN (${field('integration')}, ${instance})`, integration);
  const newest = `(SELECT rowid, timestamp, category, event_type, metadata FROM ${table} ORDER BY rowid DESC LIMIT ${among})`;
  const rows = database
    .prepare(
      `SELECT rowid AS row, timestamp, category, event_type, metadata FROM ${among === undefined ? table : newest}
       WHERE ${conditions.join(' AND ')} ORDER BY rowid ${after === undefined ? 'DESC' : 'ASC'} LIMIT ?`,
    )
    .all(...values, limit);
  if (after === undefined) rows.reverse();
  return rows.map(toEvent);
}

/** Whether the query accepts the event; for stores without SQL, which are of one process. `after`, `limit` and `among` are the caller's. */
export function matches(event: EventRow, { since, category, integration, failed = false }: EventQuery): boolean {
  return (
    (since === undefined || event.at >= since) &&
    (category === undefined || event.category === category) &&
    (!failed || failureTypes.includes(`${event.category}/${event.type}`)) &&
    (integration === undefined || event.metadata['integration'] === integration)
  );
}

/** SQL for the integration of a record as recorded by its process. */
const instance = `${field('integration')} || '@' || ${field('runtime_pid')}`;

/** @throws TypeError or RangeError that names the option and the value. */
export function checkQuery({ since, limit, after, among }: EventQuery): void {
  checkInteger('limit', limit);
  if (since !== undefined) checkNumber('since', since);
  if (after !== undefined) checkInteger('after', after, 0);
  if (among !== undefined) checkInteger('among', among);
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

/** Metadata as an object; of text that is none, `{ text }`. */
export function parseMetadata(stored: unknown): Readonly<Record<string, unknown>> {
  const text = String(stored);
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Below.
  }
  return { text };
}
