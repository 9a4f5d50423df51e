import type { ProcessWorld } from '../../actors/process/processWorld.ts';
import { boundedJson } from '../../policy/boundedJson.ts';
import type { ChildRecords } from '../../policy/childRecord.ts';
import type { Fact, Told } from '../../policy/facts.ts';
import type { FlightRecord, PolicyRow } from '../../policy/flight.ts';
import { type RateGrant, type RateOrder, takeFrom } from '../../policy/rateLimit.ts';
import type { SessionStore } from '../../sessions/sessionStore.ts';
import { checkQuery, type EventQuery, type EventRow, matches, parseMetadata } from '../events.ts';
import { type FlightQuery, type FlightRecords, mostFlights, policyKey } from '../flights.ts';
import type { OutageParts, Trouble } from '../outage.ts';
import { forgetRatesMs, type RateStates } from '../rates.ts';
import { storedEvent } from '../record.ts';
import { judgeRuntimes, type RuntimeIdentity, type RuntimeRow, type Runtimes } from '../runtimes.ts';
import type { Store } from '../store.ts';
import { WriteQueue } from '../writeQueue.ts';
import { MemoryAlerts } from './memoryAlerts.ts';
import { MemoryBreakers } from './memoryBreakers.ts';
import { MemoryDatabase } from './memoryDatabase.ts';
import type { MemoryWrite } from './memoryLedger.ts';
import { MemorySessions } from './memorySessions.ts';
import { MemoryStatistics } from './memoryStatistics.ts';

interface MemoryStoreOptions extends OutageParts {
  /** Place where it was asked to be. */
  readonly path: string;
  /** True where it stands in for a file. @defaultValue false */
  readonly degraded?: boolean | undefined;
  /** Memory that it shares with other stores of this process. @defaultValue nothing */
  readonly database?: MemoryDatabase | undefined;
}

/** A store that lasts as long as its process. */
export class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly persistent = false;
  readonly path: string;
  readonly degraded: boolean;
  readonly breakers: MemoryBreakers;
  readonly rates: MemoryRates;
  readonly statistics: MemoryStatistics;
  readonly flights: MemoryFlights;
  readonly runtimes: Runtimes;
  readonly children: ChildRecords;
  readonly alerts: MemoryAlerts;
  readonly #database: MemoryDatabase;
  readonly #queue: WriteQueue<MemoryWrite>;
  #closed = false;

  constructor({ path, degraded = false, database = new MemoryDatabase(), ...parts }: MemoryStoreOptions) {
    this.path = path;
    this.degraded = degraded;
    this.#database = database;
    this.#queue = new WriteQueue(memoryCommitter, path, parts);
    this.breakers = new MemoryBreakers(database);
    this.rates = new MemoryRates(database);
    this.statistics = new MemoryStatistics(database);
    this.flights = new MemoryFlights(database);
    this.runtimes = memoryRuntimes(database, (fact) => this.record(fact));
    this.children = memoryChildren(database);
    this.alerts = new MemoryAlerts(database, (fact) => this.record(fact));
  }

  record(fact: Told<Fact>): boolean {
    const event = this.#closed ? undefined : storedEvent(fact);
    if (event === undefined) return !this.#closed;
    const { category, eventType: type } = event;
    const metadata = parseMetadata(boundedJson(event.metadata));
    this.#database.append({ at: Math.round(fact.at), category, type, metadata });
    return true;
  }

  async read(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    const { after = 0, before = Infinity, among = Infinity } = query;
    const { events } = this.#database;
    const first = Math.min(before, (events.at(-1)?.id ?? 0) + 1) - among;
    const found = events.filter(
      (event) => event.id > after && event.id < before && event.id >= first && matches(event, query),
    );
    return query.after === undefined ? found.slice(-query.limit) : found.slice(0, query.limit);
  }

  sessions(runtime: RuntimeIdentity): SessionStore {
    const record = (fact: Told<Fact>): boolean => this.record(fact);
    return new MemorySessions({ database: this.#database, queue: this.#queue, record }, runtime);
  }

  async flush(): Promise<boolean> {
    return (await this.#queue.flush()) && !this.degraded;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.close();
  }
}

const memoryCommitter = {
  commit(batch: readonly MemoryWrite[]): undefined {
    for (const write of batch) write.run();
  },
  diagnose: (error: unknown): Trouble => ({ busy: false, reason: String(error), fix: 'report this' }),
  close: () => undefined,
};

function memoryRuntimes({ runtimes }: MemoryDatabase, record: (fact: Told<Fact>) => void): Runtimes {
  return {
    enter: (run) => void runtimes.set(run.id, { ...runtimes.get(run.id), ...run }),
    leave: (id) => void runtimes.delete(id),
    pids: async () => [...runtimes.values()].map(({ pid }) => pid),
    async removeDead(world: ProcessWorld, wallNow: number, factsOf?: (run: RuntimeRow) => readonly Fact[]) {
      const dead = judgeRuntimes([...runtimes.values()], world, wallNow).filter(({ liveness }) => liveness === 'dead');
      for (const run of dead) {
        runtimes.delete(run.id);
        for (const fact of factsOf?.(run) ?? []) record({ ...fact, at: wallNow });
      }
      return dead;
    },
  };
}

function memoryChildren({ children }: MemoryDatabase): ChildRecords {
  const keyOf = ({ pid, start }: { readonly pid: number; readonly start: string }): string => `${pid} ${start}`;
  return {
    list: async () => [...children.values()],
    add: (child) => void children.set(keyOf(child), child),
    remove: (child) => void children.delete(keyOf(child)),
    reaped: () => Promise.resolve(),
  };
}

/** Buckets of rate limits in memory, by the rules of the file. */
class MemoryRates implements RateStates {
  readonly #rates: MemoryDatabase['rates'];

  constructor({ rates }: MemoryDatabase) {
    this.#rates = rates;
  }

  draw(key: string, order: RateOrder, wallNow: number): RateGrant {
    const known = this.#rates.get(key);
    const grant = takeFrom(known?.levels ?? {}, order, wallNow);
    if (Object.keys(grant.levels).length > 0) {
      if (known === undefined) this.#forget(wallNow);
      this.#rates.set(key, { levels: grant.levels, at: wallNow });
    }
    return grant;
  }

  note(key: string, order: RateOrder, wallNow: number): void {
    this.draw(key, order, wallNow);
  }

  #forget(wallNow: number): void {
    for (const [key, { at }] of this.#rates) if (at < wallNow - forgetRatesMs) this.#rates.delete(key);
  }
}

/** The last attempts of integrations in memory. */
class MemoryFlights implements FlightRecords {
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
      const { since, seenAt } = this.#policies.get(key) ?? row;
      this.#policies.set(key, { ...row, since, seenAt: Math.max(seenAt, row.seenAt) });
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
