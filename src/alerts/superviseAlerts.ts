import { hostname } from 'node:os';
import type { OpenAlert } from '../policy/alertRecord.ts';
import { nextOfAlert } from '../policy/alertText.ts';
import { type AlertRule, defaultAlertRule, deliveryNames } from '../policy/alerts.ts';
import type { FactOf, Told } from '../policy/facts.ts';
import type { AlertOrigin } from '../policy/facts/alertFacts.ts';
import { type FailureKind, failureKinds } from '../policy/failure.ts';
import type { CheckedAlerts } from '../runtime/alertOptions.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { EventRow } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { superviseDelivery } from './alertDelivery.ts';
import { AlertWatch } from './alertWatch.ts';
import type { EarlierIncident } from './incident.ts';
import { refusing } from './refusing.ts';
import { undeliveredAlerts } from './undelivered.ts';

/** The alerts of a runtime, which end with it. */
export interface SupervisedAlerts {
  /** Begins to watch, with what is on record; the store is open. Never rejects. */
  start(): Promise<void>;
  /** The integrations with an open alert that this runtime watches. */
  readonly open: AlertWatch['open'];
}

/** Number of the last events among which failures and crashes are looked for at the start, whatever the size of the file. */
const mostEarlier = 5_000;
/** Age in ms that they may have, as the widest window that is usual. */
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
    refusing(integration) {
      const path = runtime.path(integration);
      return path && refusing(path);
    },
    statistics,
  });
  const delivery = superviseDelivery(runtime, { command, webhook });
  const newsOf = (alert: OpenAlert): Told<FactOf<'alert.raised'>> =>
    newsOfAlert(alert, ruleOf(alert.integration) ?? defaultAlertRule, alertOrigin(runtime));
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
        const open = await store.alerts.open();
        const undelivered = await undeliveredAlerts(store, open);
        watch.start(store.alerts, open, await earlierIncidents(store, wallNow), figures);
        // Not awaited: a start waits for no webhook.
        if (!runtime.stopped) for (const { alert, to } of undelivered) void delivery.again(newsOf(alert), to);
      }
    },
  };
}

/** Makes the news of an alert, for the one that watches it now. */
function newsOfAlert(
  { id: alert, raisedAt: at, integration, because, kind, message, failures, crashes }: OpenAlert,
  { windowMs, quietMs }: AlertRule,
  origin: AlertOrigin,
): Told<FactOf<'alert.raised'>> {
  const about = { integration, because, kind, message, failures, crashes };
  const next = nextOfAlert(integration, because, origin.database);
  return { type: 'alert.raised', at, alert, ...about, windowMs, quietMs, ...origin, next };
}

/** Reads all that an earlier run, or another process, has recorded since the last all-clear of each integration. */
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
  const { kind: ended, met_kind: given = ended, hook_name: hook } = metadata;
  const kind = typeof given === 'string' && Object.hasOwn(failureKinds, given) ? (given as FailureKind) : 'unknown';
  if (category === 'hook') {
    return type === 'error' ? { integration: `hook:${String(hook)}`, kind, cause: 'failures', at } : undefined;
  }
  const integration = String(metadata['integration']);
  if (type === 'crashed' || type === 'restart_failed') return { integration, kind: 'crash', cause: 'crashes', at };
  const isCall = type === 'failure' && metadata['alerts'] !== false && !integration.startsWith('hook:');
  return isCall ? { integration, kind, cause: 'failures', at } : undefined;
}

/** Returns the origin of the alerts of a runtime. A store in memory is no database that a command could look into. */
function alertOrigin({ name, store: storeOf }: Pick<Runtime, 'name' | 'store'>): AlertOrigin {
  const store = storeOf();
  return {
    host: hostname(),
    pid: process.pid,
    gateway: name,
    ...(store?.persistent === true && { database: store.path }),
  };
}
