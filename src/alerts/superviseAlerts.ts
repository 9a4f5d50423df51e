import { alertOrigin } from './alertOrigin.ts';
import { clearsOnlyOnce } from './openCircuit.ts';
import { superviseDelivery } from './alertDelivery.ts';
import type { CheckedAlerts } from '../runtime/alertOptions.ts';
import { deliveryNames } from '../policy/alerts.ts';
import { type FailureKind, failureKinds } from '../policy/failure.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { EventRow } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { AlertWatch } from './alertWatch.ts';
import type { EarlierIncident } from './incident.ts';

/** The alerts of a runtime, which end with it. */
export interface SupervisedAlerts {
  /** Begins to watch, with what is on record; the store is open. Never rejects. */
  start(): Promise<void>;
  /** The integrations with an open alert that this runtime watches. */
  readonly open: AlertWatch['open'];
}

/** How far back failures and crashes are looked for at the start: among so many of the last events, whatever the size of the file. */
const mostEarlier = 5_000;
/** How old they may be, in ms, as the widest window that is usual. */
const earlierMs = 60 * 60_000;

/** Watches the final failures of a runtime and delivers the alerts they raise. */
export function superviseAlerts(
  runtime: Runtime,
  { ruleOf, byRate, command, webhook }: CheckedAlerts,
): SupervisedAlerts {
  const { clock, bus, statistics } = runtime;
  const own: readonly string[] = Object.values(deliveryNames);
  const watch = new AlertWatch({
    clock,
    bus,
    ruleOf: (integration) => (own.includes(integration) ? undefined : ruleOf(integration)),
    origin: () => alertOrigin(runtime),
    newId: () => crypto.randomUUID(),
    clearsOnlyOnce(integration) {
      const path = runtime.path(integration);
      return path === undefined ? undefined : clearsOnlyOnce(path);
    },
    statistics,
  });
  superviseDelivery(runtime, { command, webhook });
  runtime.join({
    outlasts: true,
    get busy() {
      return watch.busy;
    },
    drain: ({ ended }) => watch.drain(ended),
    // A stop ends calls, which is no reason for an alert.
    beforeSessions: () => watch.stop(),
  });
  return {
    get open() {
      return watch.open;
    },
    async start() {
      const store = runtime.store();
      // No other runtime shares a memory: this one decides alone, and at once.
      if (store?.persistent !== true) watch.start(undefined, [], []);
      else {
        const wallNow = clock.wallNow();
        const figures = byRate ? await store.statistics.read(wallNow - earlierMs) : [];
        watch.start(store.alerts, await store.alerts.open(), await earlierIncidents(store, wallNow), figures);
      }
    },
  };
}

/** What an earlier run, or another process, has recorded since the last all-clear of each integration. */
async function earlierIncidents(store: Store, wallNow: number): Promise<readonly EarlierIncident[]> {
  const read = (category: string) =>
    store.read({ category, since: wallNow - earlierMs, among: mostEarlier, limit: mostEarlier });
  const [alerts, calls, hooks] = await Promise.all([read('alert'), read('integration'), read('hook')]);
  const cleared = new Map<unknown, number>();
  for (const { id, type, metadata } of alerts) if (type === 'cleared') cleared.set(metadata['integration'], id);
  return [...calls, ...hooks]
    .map((row) => ({ row, incident: toIncident(row) }))
    .filter(({ row, incident }) => incident !== undefined && row.id > (cleared.get(incident.integration) ?? 0))
    .flatMap(({ incident }) => incident ?? []);
}

function toIncident({ category, type, at, metadata }: EventRow): EarlierIncident | undefined {
  const { kind: given, hook_name: hook } = metadata;
  const kind = typeof given === 'string' && Object.hasOwn(failureKinds, given) ? (given as FailureKind) : 'unknown';
  if (category === 'hook') {
    return type === 'error' ? { integration: `hook:${String(hook)}`, kind, cause: 'failures', at } : undefined;
  }
  const integration = String(metadata['integration']);
  if (type === 'crashed' || type === 'restart_failed') return { integration, kind: 'crash', cause: 'crashes', at };
  const isCall = type === 'failure' && metadata['alerts'] !== false && !integration.startsWith('hook:');
  return isCall ? { integration, kind, cause: 'failures', at } : undefined;
}
