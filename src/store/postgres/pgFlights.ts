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
import type { BatchRows } from './batch.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';

const insert: RowStatement = {
  name: 'insert_flight',
  text: `WITH ${rowsOf('integration text, run text, pid integer, at bigint, because text, record text')}
    INSERT INTO uw.flight (integration, run, pid, at, because, record)
    SELECT integration, run, pid, at, because, record FROM w ORDER BY ord`,
};
const dropOldest: RowStatement = {
  name: 'drop_oldest_flights',
  text: `WITH ${rowsOf('integration text')}
    DELETE FROM uw.flight AS f USING w WHERE f.integration = w.integration AND f.id <= (
      SELECT id FROM uw.flight WHERE integration = w.integration ORDER BY id DESC LIMIT 1 OFFSET ${mostFlights})`,
};
const upsertPolicy: RowStatement = {
  name: 'upsert_policy',
  rank: 4,
  // An index holds no text of any length.
  text: `WITH ${rowsOf('name text, policy text, since bigint, seen_at bigint')}
    INSERT INTO uw.policy AS p (name, digest, policy, since, seen_at)
    SELECT name, md5(policy), policy, since, seen_at FROM w ORDER BY 1, 2
    ON CONFLICT (name, digest) DO UPDATE SET seen_at = excluded.seen_at`,
};

/** SQL for the records since `$1`, of the integration `$2` or of all. */
export const selectFlights = `SELECT integration, run, pid, at, because, record FROM uw.flight
  WHERE at >= $1 AND ($2::text IS NULL OR integration = $2) ORDER BY id`;

export const selectPolicies = 'SELECT name, policy, since, seen_at FROM uw.policy ORDER BY seen_at';

/** The last attempts of integrations in the database. */
export class PgFlights implements FlightRecords {
  readonly #database: PgDatabase;

  constructor(database: PgDatabase) {
    this.#database = database;
  }

  add(record: FlightRecord, policies: readonly PolicyRow[]): void {
    this.#database.write({
      run(batch) {
        const { integration, run, pid, at, because, ...flight } = record;
        const name = `flight ${integration}`;
        batch.add(insert, name, [integration, run, pid, Math.round(at), because, flightText(flight)]);
        batch.add(dropOldest, name, [integration]);
        keepPolicies(batch, policies);
      },
    });
  }

  keep(policies: readonly PolicyRow[]): void {
    if (policies.length === 0) return;
    this.#database.write({
      run(batch) {
        keepPolicies(batch, policies);
      },
    });
  }

  async read({ integration, since = 0 }: FlightQuery): Promise<readonly FlightRecord[]> {
    const rows = await this.#database.read({ name: 'flights', text: selectFlights }, [
      Math.round(since),
      integration ?? null,
    ]);
    return (rows ?? []).flatMap(flightsIn);
  }

  async policies(): Promise<readonly PolicyRow[]> {
    return ((await this.#database.read({ name: 'policies', text: selectPolicies })) ?? []).flatMap(policiesIn);
  }
}

function keepPolicies(batch: BatchRows, policies: readonly PolicyRow[]): void {
  for (const { name, kept, since, seenAt } of policies) {
    const policy = policyKey(kept);
    batch.add(upsertPolicy, `policy ${name} ${policy}`, [name, policy, Math.round(since), Math.round(seenAt)]);
  }
}
