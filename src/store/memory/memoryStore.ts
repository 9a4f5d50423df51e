import type { ProcessWorld } from '../../actors/process/processIdentity.ts';
import { boundedJson, isSmall } from '../../policy/text/storedJson.ts';
import { addFigures, type CallFiguresRow, type CallTotals, noFigures } from '../../policy/records/callFigures.ts';
import type { ChildRecord, ChildRecords } from '../../policy/records/childRecord.ts';
import type { Fact, Told } from '../../policy/facts/facts.ts';
import type { FlightRecord, PolicyRow } from '../../policy/records/flight.ts';
import { type RateGrant, type RateLevels, type RateOrder, takeFrom } from '../../policy/rateLimit.ts';
import { checkQuery, type EventQuery, type EventRow, matches, parseMetadata } from '../events.ts';
import { type FlightQuery, type FlightRecords, mostFlights, policyKey } from '../flights.ts';
import { forgetRatesMs, type RateStates } from '../rates.ts';
import { type StoredEvent, storedEvent } from '../record.ts';
import { judgeRuntimes, type RuntimeRow, type Runtimes } from '../runtimes.ts';
import { memoryQuestions } from '../tables/questions.ts';
import { memoryTexts } from '../tables/scopedTexts.ts';
import type { CallStatisticsRecords } from '../tables/statistics.ts';
import type { Store } from '../store.ts';
import { MemoryAlerts } from './memoryAlerts.ts';
import { MemoryBreakers } from './memoryBreakers.ts';

/** Events that are kept; one more drops the oldest. */
const maxEvents = 10_000;

/** An event whose words and numbers are made what a file gives back once somebody reads them: most are never read. */
class MemoryEvent implements EventRow {
  readonly id: number;
  readonly at: number;
  readonly category: string;
  readonly type: string;
  #metadata: EventRow['metadata'];
  #isRead: boolean;

  constructor(id: number, at: number, { category, eventType, metadata }: StoredEvent) {
    this.id = id;
    this.at = at;
    this.category = category;
    this.type = eventType;
    this.#isRead = !isSmall(metadata);
    this.#metadata = this.#isRead ? parseMetadata(boundedJson(metadata)) : metadata;
  }

  get metadata(): EventRow['metadata'] {
    if (!this.#isRead) this.#metadata = parseMetadata(boundedJson(this.#metadata));
    this.#isRead = true;
    return this.#metadata;
  }
}

/** A store that lasts as long as its process. */
export class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly persistent = false;
  readonly path: string;
  readonly degraded: boolean;
  readonly breakers = new MemoryBreakers();
  readonly rates: RateStates = new MemoryRates();
  readonly statistics: CallStatisticsRecords = new MemoryStatistics();
  readonly flights: FlightRecords = new MemoryFlights();
  readonly spinning = memoryTexts();
  readonly definitions = memoryTexts();
  readonly questions = memoryQuestions();
  readonly runtimes = memoryRuntimes((fact) => this.record(fact));
  readonly children = memoryChildren();
  readonly alerts = new MemoryAlerts((fact) => this.record(fact));
  readonly #events: MemoryEvent[] = [];
  #lastEvent = 0;
  #closed = false;

  /** @param path - where it was asked to be. @param degraded - whether it stands in for a file. */
  constructor(path: string, degraded: boolean) {
    this.path = path;
    this.degraded = degraded;
  }

  record(fact: Told<Fact>): boolean {
    const event = this.#closed ? undefined : storedEvent(fact);
    if (event === undefined) return !this.#closed;
    this.#events.push(new MemoryEvent(++this.#lastEvent, Math.round(fact.at), event));
    // Shifting one by one would move all of them each time.
    if (this.#events.length >= 2 * maxEvents) this.#events.splice(0, this.#events.length - maxEvents);
    return true;
  }

  async read(query: EventQuery): Promise<readonly EventRow[]> {
    checkQuery(query);
    const { after = 0, before = Infinity, among = Infinity } = query;
    const first = Math.min(before, this.#lastEvent + 1) - among;
    const found = this.#events
      .slice(-maxEvents)
      .filter((event) => event.id > after && event.id < before && event.id >= first && matches(event, query));
    const read = query.after === undefined ? found.slice(-query.limit) : found.slice(0, query.limit);
    return read.map(({ id, at, category, type, metadata }) => ({ id, at, category, type, metadata }));
  }

  async flush(): Promise<boolean> {
    return !this.degraded;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/** Rows of figures that are kept; one more drops the oldest. */
const mostRows = 10_000;

/** Figures of calls in memory. */
class MemoryStatistics implements CallStatisticsRecords {
  /** By minute, integration and tool. */
  readonly #rows = new Map<string, CallFiguresRow>();
  /** By integration and tool. */
  readonly #totals = new Map<string, CallTotals>();

  add(rows: readonly CallFiguresRow[]): void {
    for (const row of rows) {
      const key = JSON.stringify([row.minute, row.integration, row.tool]);
      const known = this.#rows.get(key);
      this.#rows.set(key, known === undefined ? row : { ...row, ...addFigures(known, row) });
      this.#addToTotal(row);
    }
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= mostRows) break;
      this.#rows.delete(key);
    }
  }

  async totals(): Promise<readonly CallTotals[]> {
    return [...this.#totals.values()];
  }

  #addToTotal(row: CallFiguresRow): void {
    const { integration, tool } = row;
    const key = JSON.stringify([integration, tool]);
    this.#totals.set(key, { integration, tool, ...addFigures(this.#totals.get(key) ?? noFigures, row) });
  }

  async read(since: number): Promise<readonly CallFiguresRow[]> {
    return [...this.#rows.values()].filter(({ minute }) => minute >= since);
  }
}

function memoryRuntimes(record: (fact: Told<Fact>) => void): Runtimes {
  const runtimes = new Map<string, RuntimeRow>();
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

function memoryChildren(): ChildRecords {
  const children = new Map<string, ChildRecord>();
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
  /** With when they were last asked for, in wall time. */
  readonly #rates = new Map<string, { readonly levels: RateLevels; readonly at: number }>();

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
  /** By integration. */
  readonly #flights = new Map<string, readonly FlightRecord[]>();
  readonly #policies = new Map<string, PolicyRow>();

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
