import type { Gateway } from '../../../src/gateway/gatewayTypes.ts';
import { checkIncident } from '../../../incident/checkIncident.ts';
import { gatherIncident } from '../../../incident/gather.ts';
import type { Incident } from '../../../incident/incident.ts';
import { incidentText } from '../../../incident/incidentFiles.ts';
import { registryOf } from '../../../src/runtime/registryOf.ts';
import { KnownSecrets } from '../../../src/redaction/knownSecrets.ts';
import type { Store } from '../../../src/store/store.ts';
import type { StoreReader } from '../../../reader/storeReader.ts';
import type { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** What gateways of this process have stored, as another process reads it of one database. */
function readerOf(stores: readonly Store[], pidOf: (store: Store) => number): StoreReader {
  const all = async <T>(read: (store: Store) => Promise<readonly T[]>): Promise<readonly T[]> =>
    (await Promise.all(stores.map(read))).flat();
  const reader: Partial<StoreReader> = {
    path: ':memory:',
    // In the order in which they were stored.
    events: async (query) =>
      (
        await all(async (store) =>
          (
            await store.read(query)
          ).map((event) => ({
            ...event,
            metadata: { ...event.metadata, runtime_pid: pidOf(store) },
          })),
        )
      ).toSorted((one, other) => (stores.length === 1 ? 0 : one.at - other.at)),
    flights: async (query) =>
      (
        await all(async (store) =>
          (await store.flights.read(query)).map((record) => ({ ...record, pid: pidOf(store) })),
        )
      ).toSorted((one, other) => one.at - other.at),
    policies: () => all((store) => store.flights.policies()),
    status: async () => ({
      events: 0,
      integrations: [],
      alerts: { open: [], unwatched: [] },
      sessions: [],
      moreSessions: 0,
    }),
    sessionIds: async () => [],
    waitingSessions: async () => [],
    session: async () => undefined,
  };
  return reader as StoreReader;
}

/**
 * The incident of a live gateway, which is asked to write what it holds.
 * @param others - that share its database.
 * @param pidOfOthers - as if they were in another process.
 */
export async function gathered(
  gateway: Gateway,
  id: string,
  clock: SimulatedClock,
  others: readonly Gateway[] = [],
  pidOfOthers = process.pid,
): Promise<Incident> {
  const gateways = [...others, gateway];
  for (const each of gateways) await registryOf(each)?.runtime.flights.keep('asked', id);
  const secrets = new KnownSecrets({});
  return gatherIncident(
    readerOf(
      gateways.flatMap(({ store }) => store ?? []),
      (store) => (store === gateway.store ? process.pid : pidOfOthers),
    ),
    id,
    {
      now: clock.wallNow(),
      aroundMs: 3_600_000,
      secrets,
      asked: [process.pid],
    },
  );
}

/** As it is written and read. */
export function readBack(incident: Incident): Incident {
  const read = checkIncident(JSON.parse(incidentText(incident)));
  if (typeof read === 'string') throw new Error(read);
  return read;
}
