import type { Fact, Told } from '../policy/facts.ts';
import { neverOpened, type PersistedBreaker } from '../policy/persistedBreaker.ts';
import type { BreakerStates } from './breakerState.ts';
import { checkQuery, type EventQuery, type EventRow, matches, parseMetadata } from './query.ts';
import { storedEvent } from './record.ts';
import type { Redactor } from './redact.ts';
import { noRuntimes } from './runtimes.ts';

/** Rows a store in memory keeps; one more drops the oldest. */
const maxRemembered = 10_000;

/** A store that lasts as long as its process. */
export function createMemoryStore(redact: Redactor, path: string, degraded: boolean) {
  const events: EventRow[] = [];
  let lastId = 0;
  let closed = false;
  return {
    kind: 'memory' as const,
    path,
    degraded,
    record(fact: Told<Fact>): boolean {
      const event = closed ? undefined : storedEvent(fact);
      if (event === undefined) return !closed;
      const { category, eventType } = event;
      const metadata = parseMetadata(redact(event.metadata));
      events.push({ id: ++lastId, at: Math.round(fact.at), category, type: eventType, metadata });
      // Shifting one by one would move all of them each time.
      if (events.length >= 2 * maxRemembered) events.splice(0, events.length - maxRemembered);
      return true;
    },
    read(query: EventQuery): readonly EventRow[] {
      checkQuery(query);
      const { after, limit } = query;
      const found = events.slice(-maxRemembered).filter((event) => event.id > (after ?? 0) && matches(event, query));
      return after === undefined ? found.slice(-limit) : found.slice(0, limit);
    },
    breakers: createMemoryBreakers(),
    runtimes: noRuntimes,
    sessions: () => undefined,
    children: undefined,
    alerts: undefined,
    flush: () => Promise.resolve(!degraded),
    close(): Promise<void> {
      closed = true;
      return Promise.resolve();
    },
  };
}

function createMemoryBreakers(): BreakerStates {
  const breakers = new Map<string, PersistedBreaker>();
  return {
    loadAll: () => new Map(breakers),
    load: (name) => breakers.get(name),
    save(name, breaker) {
      const kept = breakers.get(name);
      if (kept === undefined || breaker.generation >= kept.generation) breakers.set(name, breaker);
    },
    countFailure(name, generation) {
      const kept = breakers.get(name) ?? { ...neverOpened, generation };
      if (kept.generation !== generation || kept.state === 'open') return 0;
      breakers.set(name, { ...kept, failures: kept.failures + 1 });
      return kept.failures + 1;
    },
    saveFailures(name, generation, failures) {
      const kept = breakers.get(name) ?? { ...neverOpened, generation };
      if (kept.generation === generation && kept.state === 'closed') breakers.set(name, { ...kept, failures });
    },
    // One process, one owner: there is nobody to share the probe with.
    claimProbe: () => true,
    probeHolder: () => undefined,
    releaseProbe: () => undefined,
  };
}
