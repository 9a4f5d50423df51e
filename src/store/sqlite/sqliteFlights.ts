import type { FlightRecord, PolicyRow } from '../../policy/flight.ts';
import {
  type FlightQuery,
  type FlightRecords,
  flightsIn,
  flightText,
  mostFlights,
  policiesIn,
  policyKey,
} from '../flights.ts';
import type { Database } from './database.ts';
import { hasTable } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** The last attempts of integrations in the file. */
export class SqliteFlights implements FlightRecords {
  readonly #file: StoreFile;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  add(record: FlightRecord, policies: readonly PolicyRow[]): void {
    this.#file.write({
      run(database) {
        insertFlight(database, record);
        for (const row of policies) upsertPolicy(database, row);
      },
    });
  }

  keep(policies: readonly PolicyRow[]): void {
    if (policies.length === 0) return;
    this.#file.write({
      run(database) {
        for (const row of policies) upsertPolicy(database, row);
      },
    });
  }

  async read(query: FlightQuery): Promise<readonly FlightRecord[]> {
    return this.#file.ask((database) => selectFlights(database, query), []);
  }

  async policies(): Promise<readonly PolicyRow[]> {
    return this.#file.ask((database) => selectPolicies(database), []);
  }
}

/** Reads none from a database of before, which has no such table. Anything that somebody damaged is left out. */
export function selectFlights(database: Database, { integration = '', since = 0 }: FlightQuery): FlightRecord[] {
  if (!hasTable(database, 'unwedge_flights')) return [];
  return database
    .prepare(`SELECT * FROM unwedge_flights WHERE at >= ? AND (integration = ? OR ? = '') ORDER BY id`)
    .all(Math.round(since), integration, integration)
    .flatMap(flightsIn);
}

/** Reads none from a database of before. Anything that somebody damaged is left out. */
export function selectPolicies(database: Database): PolicyRow[] {
  if (!hasTable(database, 'unwedge_policies')) return [];
  return database.prepare('SELECT * FROM unwedge_policies ORDER BY seen_at').all().flatMap(policiesIn);
}

function insertFlight(database: Database, { integration, run, pid, at, because, ...flight }: FlightRecord): void {
  database
    .prepare('INSERT INTO unwedge_flights (integration, run, pid, at, because, record) VALUES (?, ?, ?, ?, ?, ?)')
    .run(integration, run, pid, Math.round(at), because, flightText(flight));
  database
    .prepare(
      `DELETE FROM unwedge_flights WHERE integration = ? AND id <=
         (SELECT id FROM unwedge_flights WHERE integration = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`,
    )
    .run(integration, integration, mostFlights);
}

function upsertPolicy(database: Database, { name, kept, since, seenAt }: PolicyRow): void {
  database
    .prepare(
      `INSERT INTO unwedge_policies (name, policy, since, seen_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (name, policy) DO UPDATE SET seen_at = excluded.seen_at`,
    )
    .run(name, policyKey(kept), Math.round(since), Math.round(seenAt));
}
