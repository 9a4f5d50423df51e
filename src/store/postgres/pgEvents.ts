import type { Fact, Told } from '../../policy/facts.ts';
import { checkQuery, childOf, type EventQuery, type EventRow, parseMetadata, searched, wentWrong } from '../events.ts';
import { type StoredEvent, storedEvent } from '../record.ts';
import type { Redactor } from '../redact.ts';
import type { BatchRows } from './batch.ts';
import { rowsOf, type RowStatement, type Value } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';

/** Between the sessions of an event on their way to the database: no id holds it. */
const separator = '\u001F';

/** What is asked for most is beside the metadata: JSON in a text costs the reading of every row. */
export const insertEvent: RowStatement = {
  name: 'insert_event',
  together: true,
  text: `WITH ${rowsOf('at bigint, category text, type text, metadata text, integration text, pid integer, sessions text, failed boolean')}
    INSERT INTO uw.event (at, category, type, metadata, integration, pid, sessions, failed)
    SELECT at, category, type, metadata, integration, pid, string_to_array(sessions, '${separator}'), failed FROM w ORDER BY ord`,
};

/** The append-only log of facts. */
export class PgEvents {
  readonly #database: PgDatabase;
  readonly #redact: Redactor;
  readonly #runtimePid: number | undefined;

  /** @param runtimePid - of the process whose records these are; stored with each as `runtime_pid`. */
  constructor(database: PgDatabase, redact: Redactor, runtimePid: number | undefined) {
    this.#database = database;
    this.#redact = redact;
    this.#runtimePid = runtimePid;
  }

  /** Stores the fact with a write that is under way, if its type is stored. */
  async insert(batch: BatchRows, fact: Told<Fact>): Promise<void> {
    const event = storedEvent(fact);
    if (event !== undefined) await batch.row(insertEvent, 'events', this.#rowOf(event, fact.at));
  }

  /** Stores the fact if its type is stored. False when it was refused at the door. Never throws. */
  record(fact: Told<Fact>): boolean {
    const event = storedEvent(fact);
    if (event === undefined) return true;
    if (this.#database.refuses()) return false;
    // Redacted now: what waits in memory is small and clean, and the caller may change its objects.
    const row = this.#rowOf(event, fact.at);
    this.#database.write({
      async run(batch) {
        await batch.row(insertEvent, 'events', row);
      },
    });
    return true;
  }

  /** Reads back; empty when the store cannot be read. Rejects with TypeError or RangeError for a wrong query. */
  async read(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    const { text, values } = selectEvents(query);
    const rows = (await this.#database.read({ name: '', text }, values)) ?? [];
    return query.after === undefined ? rows.map(toEvent).toReversed() : rows.map(toEvent);
  }

  #rowOf({ category, eventType: type, metadata }: StoredEvent, at: number): readonly Value[] {
    const pid = this.#runtimePid;
    const written = this.#redact(pid === undefined ? metadata : Object.assign({}, metadata, { runtime_pid: pid }));
    return eventValues({ category, type }, written, at);
  }
}

/** The values of an event's row. @param written - its metadata as JSON, without secrets; `runtime_pid` there is its process. */
export function eventValues(
  { category, type }: Pick<EventRow, 'category' | 'type'>,
  written: string,
  at: number,
): readonly Value[] {
  const metadata = parseMetadata(written);
  const { integration, child, session, session_key: key, runtime_pid: pid } = metadata;
  const sessions = [session, key, typeof child === 'string' ? sessionOf(child) : undefined];
  return [
    Math.round(at),
    category,
    type,
    written,
    typeof integration === 'string' ? integration : null,
    Number.isSafeInteger(pid) ? Number(pid) : null,
    sessions.filter((id) => typeof id === 'string').join(separator),
    wentWrong({ category, type, metadata }),
  ];
}

/** The session that a child of the supervision tree is. */
function sessionOf(child: string): string | undefined {
  const start = childOf('');
  return child.startsWith(start) ? child.slice(start.length) : undefined;
}

function selectEvents(query: EventQuery): { readonly text: string; readonly values: readonly unknown[] } {
  const { since, until, category, integration, session, text, failed = false, limit, after, before, among } = query;
  const conditions: string[] = ['true'];
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  if (after !== undefined) conditions.push(`id > ${value(after)}`);
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
    conditions.push(`${value(integration)}::text IN (integration, integration || '@' || pid)`);
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

function toEvent(row: PgRow): EventRow {
  return {
    id: Number(row['id']),
    at: Number(row['at']),
    category: String(row['category']),
    type: String(row['type']),
    metadata: parseMetadata(row['metadata']),
  };
}
