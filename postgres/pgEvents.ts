import type { Fact, Told } from '../src/policy/facts/face.ts';
import { troubleIn } from './countedTrouble.ts';
import {
  type EventQuery,
  type EventRow,
  type StoredEvent,
  type Value,
  checkQuery,
  childOf,
  parseMetadata,
  storedEvent,
  wentWrong,
} from '../src/store/face.ts';
import { boundedJson } from '../src/policy/text/face.ts';
import type { BatchRows } from './batch.ts';
import { eventsIn, selectEvents } from './eventRows.ts';
import type { PgDatabase } from './pgDatabase.ts';
import { rowsOf, type RowStatement } from './rowStatement.ts';

/** Between the sessions of an event on their way to the database: no id holds it. */
const separator = '\u001F';

/** Puts what is asked for most beside the metadata: JSON in a text costs the reading of every row. */
export const insertEvent: RowStatement = {
  name: 'insert_event',
  together: true,
  text: `WITH ${rowsOf(`at bigint, category text, type text, metadata text, integration text, pid integer, sessions text, failed boolean,
      trouble text, trouble_of text`)}
    INSERT INTO uw.event (at, category, type, metadata, integration, pid, sessions, failed, trouble, trouble_of)
    SELECT at, category, type, metadata, integration, pid, string_to_array(sessions, '${separator}'), failed, trouble, trouble_of
    FROM w ORDER BY ord`,
};

/** The append-only log of facts. */
export class PgEvents {
  readonly #database: PgDatabase;
  readonly #runtimePid: number | undefined;

  /** @param runtimePid - of the process whose records these are; stored with each as `runtime_pid`. */
  constructor(database: PgDatabase, runtimePid: number | undefined) {
    this.#database = database;
    this.#runtimePid = runtimePid;
  }

  /** Stores the fact with a write that is under way, if its type is stored. */
  insert(batch: Pick<BatchRows, 'row'>, fact: Told<Fact>): Promise<unknown> | undefined {
    const event = storedEvent(fact);
    return event && batch.row(insertEvent, 'events', this.#rowOf(event, fact.at));
  }

  /** Stores the fact if its type is stored. False when it was refused at the door. Never throws. */
  readonly record = (fact: Told<Fact>): boolean => {
    const event = storedEvent(fact);
    if (event === undefined) return true;
    if (this.#database.refuses()) return false;
    // Redacted now: what waits in memory is small and clean, and the caller may change its objects.
    const row = this.#rowOf(event, fact.at);
    this.#database.write({
      run(batch) {
        batch.add(insertEvent, 'events', row);
      },
    });
    return true;
  };

  /** Reads back; empty when the store cannot be read. Rejects with TypeError or RangeError for a wrong query. */
  async read(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    const { text, values } = selectEvents(query);
    return eventsIn((await this.#database.read({ name: '', text }, values)) ?? [], query);
  }

  #rowOf({ category, eventType: type, metadata }: StoredEvent, at: number): readonly Value[] {
    const pid = this.#runtimePid;
    const written = boundedJson(pid === undefined ? metadata : Object.assign({}, metadata, { runtime_pid: pid }));
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
  const event = { category, type, metadata };
  const counted = troubleIn(event);
  return [
    Math.round(at),
    category,
    type,
    written,
    typeof integration === 'string' ? integration : null,
    Number.isSafeInteger(pid) ? Number(pid) : null,
    sessions.filter((id) => typeof id === 'string').join(separator),
    wentWrong(event),
    counted?.trouble ?? null,
    counted?.of ?? null,
  ];
}

/** The session that a child of the supervision tree is. */
function sessionOf(child: string): string | undefined {
  const start = childOf('');
  return child.startsWith(start) ? child.slice(start.length) : undefined;
}
