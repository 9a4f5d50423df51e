import type { Gateway } from '../../src/gateway/gatewayTypes.ts';
import { checkIncident } from '../../src/incident/checkIncident.ts';
import { gatherIncident } from '../../src/incident/gather.ts';
import type { Incident } from '../../src/incident/incident.ts';
import { incidentText } from '../../src/incident/incidentFiles.ts';
import { registryOf } from '../../src/runtime/registryOf.ts';
import { KnownSecrets } from '../../src/store/knownSecrets.ts';
import type { Store } from '../../src/store/store.ts';
import type { StoreReader } from '../../src/store/storeReader.ts';
import type { SimulatedClock } from '../../src/testing/simulatedClock.ts';

/** A store of a live gateway as another process reads it. */
function readerOf(store: Store): StoreReader {
  const reader: Partial<StoreReader> = {
    path: ':memory:',
    events: (query) => store.read(query),
    flights: (query) => store.flights.read(query),
    policies: () => store.flights.policies(),
    status: async () => ({ events: 0, integrations: [], alerts: { open: [], unwatched: [] }, sessions: [] }),
    sessionIds: async () => [],
  };
  return reader as StoreReader;
}

/** The incident of a live gateway, which is asked to write what it holds. */
export async function gathered(gateway: Gateway, id: string, clock: SimulatedClock): Promise<Incident> {
  const { store } = gateway;
  if (store === undefined) throw new Error('Expected a store');
  await registryOf(gateway)?.runtime.flights.keep('asked');
  const secrets = new KnownSecrets({});
  return gatherIncident(readerOf(store), id, { now: clock.wallNow(), aroundMs: 3_600_000, secrets });
}

/** As it is written and read. */
export function readBack(incident: Incident): Incident {
  const read = checkIncident(JSON.parse(incidentText(incident)));
  if (typeof read === 'string') throw new Error(read);
  return read;
}
