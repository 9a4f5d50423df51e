import type { FlightRecord, PolicyRow } from '../../policy/flight.ts';
import { type FlightQuery, type FlightRecords, mostFlights, policyKey } from '../flights.ts';
import type { MemoryDatabase } from './memoryDatabase.ts';

/** The last attempts of integrations in memory. */
export class MemoryFlights implements FlightRecords {
  readonly #flights: MemoryDatabase['flights'];
  readonly #policies: MemoryDatabase['policies'];

  constructor({ flights, policies }: MemoryDatabase) {
    this.#flights = flights;
    this.#policies = policies;
  }

  add(record: FlightRecord, policies: readonly PolicyRow[]): void {
    const records = this.#flights.get(record.integration) ?? [];
    this.#flights.set(record.integration, [...records, record].slice(-mostFlights));
    this.keep(policies);
  }

  keep(policies: readonly PolicyRow[]): void {
    for (const row of policies) {
      const key = JSON.stringify([row.name, policyKey(row.kept)]);
      const { since } = this.#policies.get(key) ?? row;
      this.#policies.set(key, { ...row, since });
    }
  }

  async read({ integration, since = 0 }: FlightQuery): Promise<readonly FlightRecord[]> {
    const records =
      integration === undefined ? [...this.#flights.values()].flat() : (this.#flights.get(integration) ?? []);
    return records.filter(({ at }) => at >= since).toSorted((one, other) => one.at - other.at);
  }

  async policies(): Promise<readonly PolicyRow[]> {
    return [...this.#policies.values()];
  }
}
