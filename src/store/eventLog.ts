import type { Fact, Told } from '../policy/facts.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { checkQuery, type EventQuery, type EventRow, selectEvents } from './query.ts';
import { type StoredEvent, storedEvent } from './record.ts';
import type { Redactor } from './redact.ts';
import type { Schema } from './schema.ts';
import type { WriteQueue } from './writeQueue.ts';

/** The append-only log of facts. */
export interface EventLog {
  /** Stores the fact if its type is stored. False when it was refused at the door. Never throws. */
  record(fact: Told<Fact>): boolean;
  /** Stores the fact within a transaction that is under way, if its type is stored. @throws what SQLite reports. */
  insert(database: Database, schema: Schema, fact: Told<Fact>): void;
  /** Reads back; empty when the store cannot be read. @throws TypeError or RangeError for a wrong query. */
  read(query: EventQuery): readonly EventRow[];
}

export interface EventLogOptions {
  readonly connection: Connection;
  readonly queue: WriteQueue;
  readonly redact: Redactor;
  /** Of the process whose records these are; stored with each as `runtime_pid`. */
  readonly runtimePid: number | undefined;
}

export function createEventLog({ connection, queue, redact, runtimePid }: EventLogOptions): EventLog {
  // A spread with a field more takes V8 seven times as long.
  const metadataOf = (event: StoredEvent): string =>
    redact(runtimePid === undefined ? event.metadata : Object.assign({}, event.metadata, { runtime_pid: runtimePid }));

  return {
    insert(database, { eventTable }, fact) {
      const event = storedEvent(fact);
      if (event === undefined) return;
      insertEvent(database, eventTable, fact.at, event.category, event.eventType, metadataOf(event));
    },
    record(fact) {
      const event = storedEvent(fact);
      if (event === undefined) return true;
      if (queue.refuses()) return false;
      const { category, eventType } = event;
      // Redacted now: what waits in memory is small and clean, and the caller may change its objects.
      const metadata = metadataOf(event);
      queue.add({
        run: (database, { eventTable }) => insertEvent(database, eventTable, fact.at, category, eventType, metadata),
      });
      return true;
    },
    read(query) {
      checkQuery(query);
      if (queue.degraded) return [];
      try {
        return connection.use((database, { eventTable }) => selectEvents(database, eventTable, query));
      } catch (error) {
        queue.report(error);
        return [];
      }
    },
  };
}

// better-sqlite3 binds numbers beyond 32 bits as REAL, which a column of a foreign table would keep as such.
function insertEvent(
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
