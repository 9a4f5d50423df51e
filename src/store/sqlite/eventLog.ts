import type { Fact, Told } from '../../policy/facts/facts.ts';
import { boundedJson } from '../../policy/text/storedJson.ts';
import { checkQuery, type EventQuery, type EventRow } from '../events.ts';
import { type StoredEvent, storedEvent } from '../record.ts';
import type { Database } from './database.ts';
import { selectEvents } from './eventRows.ts';
import type { Schema } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** The append-only log of facts. */
export class EventLog {
  readonly #file: StoreFile;
  readonly #runtimePid: number | undefined;

  /** @param runtimePid - of the process whose records these are; stored with each as `runtime_pid`. */
  constructor(file: StoreFile, runtimePid: number | undefined) {
    this.#file = file;
    this.#runtimePid = runtimePid;
  }

  /** Stores the fact within a transaction that is under way, if its type is stored. @throws what SQLite reports. */
  insert(database: Database, { eventTable }: Schema, fact: Told<Fact>): void {
    const event = storedEvent(fact);
    if (event === undefined) return;
    insertEvent(database, eventTable, fact.at, event.category, event.eventType, this.#metadataOf(event));
  }

  /** Stores the fact if its type is stored. False when it was refused at the door. Never throws. */
  readonly record = (fact: Told<Fact>): boolean => {
    const event = storedEvent(fact);
    if (event === undefined) return true;
    if (this.#file.refuses()) return false;
    const { category, eventType } = event;
    // Written out now: what waits in memory is small, and the caller may change its objects.
    const metadata = this.#metadataOf(event);
    this.#file.write({
      run: (database, { eventTable }) => insertEvent(database, eventTable, fact.at, category, eventType, metadata),
    });
    return true;
  };

  /** Reads back; empty when the store cannot be read. Rejects with TypeError or RangeError for a wrong query. */
  async read(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    return this.#file.ask((database, { eventTable }) => selectEvents(database, eventTable, query), []);
  }

  // A spread with a field more takes V8 seven times as long.
  #metadataOf({ metadata }: StoredEvent): string {
    const pid = this.#runtimePid;
    return boundedJson(pid === undefined ? metadata : Object.assign({}, metadata, { runtime_pid: pid }));
  }
}

// better-sqlite3 binds numbers beyond 32 bits as REAL, which a column of a foreign table would keep as such.
/** Enters an event. */
export function insertEvent(
  database: Database,
  table: Schema['eventTable'],
  at: number,
  category: string,
  eventType: string,
  metadata: string,
): void {
  database.prepare(inserts[table]).run(at, category, eventType, metadata);
}

const insertInto = (table: string): string =>
  `INSERT INTO ${table} (timestamp, category, event_type, metadata) VALUES (CAST(? AS INTEGER), ?, ?, ?)`;
const inserts = { events: insertInto('events'), unwedge_events: insertInto('unwedge_events') } as const;
