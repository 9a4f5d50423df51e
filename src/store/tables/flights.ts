import type { FlightRecord, PolicyRow } from '../../policy/records/flight.ts';
import { insertInto, statement } from '../dialect.ts';
import {
  type FlightQuery,
  type FlightRecords,
  flightsIn,
  flightText,
  mostFlights,
  policiesIn,
  policyKey,
} from '../flights.ts';
import { type Read, type RowStep, step, type Tables, type Work } from '../work.ts';
import { columnsInFile } from './schema.ts';

const columns = columnsInFile('flight');

const insertFlight = statement('insert_flight', columns, insertInto('uw.flight', columns));
const dropOldest = statement(
  'drop_oldest_flights',
  'integration text',
  `DELETE FROM uw.flight AS f {USING w |}WHERE f.integration = :integration AND f.id <= (
     SELECT id FROM uw.flight WHERE integration = :integration ORDER BY id DESC LIMIT 1 OFFSET ${mostFlights})`,
);
// An index of a server holds no text of any length.
export const upsertPolicy = statement(
  'upsert_policy',
  'name text, policy text, since bigint, seen_at bigint',
  `INSERT INTO uw.policy AS p (name, {digest, |}policy, since, seen_at)
   {SELECT name, md5(policy), policy, since, seen_at FROM w ORDER BY 1, 2|VALUES (:name, :policy, :since, :seen_at)}
   ON CONFLICT (name, {digest|policy}) DO UPDATE SET seen_at = {greatest|max}(p.seen_at, excluded.seen_at)`,
  { rank: 4 },
);
const flights = statement(
  'flights',
  'integration text, since bigint',
  `SELECT integration, run, pid, at, because, record FROM uw.flight
   WHERE at >= :since AND (integration = :integration OR :integration IS NULL) ORDER BY id`,
);
const policies = statement('policies', '', 'SELECT name, policy, since, seen_at FROM uw.policy ORDER BY seen_at');

/** The last attempts of integrations in a store. */
export class Flights implements FlightRecords {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  add(record: FlightRecord, inForce: readonly PolicyRow[]): void {
    this.#tables.write(() => addFlight(record, inForce));
  }

  keep(inForce: readonly PolicyRow[]): void {
    if (inForce.length === 0) return;
    this.#tables.write(() => keepPolicies(inForce));
  }

  read(query: FlightQuery): Promise<readonly FlightRecord[]> {
    return readFlights(this.#tables.read, query);
  }

  policies(): Promise<readonly PolicyRow[]> {
    return readPolicies(this.#tables.read);
  }
}

/** Records of a query, the oldest first. Anything that somebody damaged is left out. */
export async function readFlights(read: Read, { integration, since = 0 }: FlightQuery): Promise<FlightRecord[]> {
  return (await read(flights, { integration, since })).flatMap(flightsIn);
}

/** Policies that were in force. Anything that somebody damaged is left out. */
export async function readPolicies(read: Read): Promise<PolicyRow[]> {
  return (await read(policies)).flatMap(policiesIn);
}

function* addFlight(record: FlightRecord, inForce: readonly PolicyRow[]): Work<void> {
  const key = `flight ${record.integration}`;
  yield step(insertFlight, key, rowOf(record));
  yield step(dropOldest, key, record);
  yield* keepPolicies(inForce);
}

function* keepPolicies(inForce: readonly PolicyRow[]): Work<void> {
  for (const policy of inForce) yield kept(policy);
}

function rowOf({ integration, run, pid, at, because, ...flight }: FlightRecord) {
  return { integration, run, pid, at, because, record: flightText(flight) };
}

function kept({ name, kept: policy, since, seenAt }: PolicyRow): RowStep {
  const text = policyKey(policy);
  return step(upsertPolicy, `policy ${name} ${text}`, { name, policy: text, since, seenAt });
}
