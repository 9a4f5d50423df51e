import { superviseDelivery } from './alertDelivery.ts';
import type { CheckedAlerts } from './alertOptions.ts';
import type { CallPath } from './calls/callPath.ts';
import { deliveryNames } from './policy/alerts.ts';
import { type FailureKind, failureKinds } from './policy/failure.ts';
import type { Runtime } from './runtime.ts';
import type { EventRow } from './store/query.ts';
import type { Store } from './store/store.ts';
import { createAlertWatch, type EarlierIncident } from './telemetry/alerts.ts';

/** The alerts of a gateway. */
export interface SupervisedAlerts {
  /** Integrations that deliver them. */
  readonly paths: readonly Pick<
    CallPath<unknown, unknown>,
    'name' | 'link' | 'stats' | 'busy' | 'restart' | 'drain' | 'stop'
  >[];
  /** Begins to watch, with what is on record; the store is open. */
  start(): void;
  stop(): void;
}

/** How far back failures and crashes are looked for at the start: among so many of the last events, whatever the size of the file. */
const mostEarlier = 5_000;
/** How old they may be, in ms, as the widest window that is usual. */
const earlierMs = 60 * 60_000;

/** Watches the final failures of a runtime and delivers the alerts they raise. */
export function superviseAlerts(runtime: Runtime, { ruleOf, command, webhook }: CheckedAlerts): SupervisedAlerts {
  const { clock, bus } = runtime;
  const own: readonly string[] = Object.values(deliveryNames);
  const watch = createAlertWatch({
    clock,
    bus,
    ruleOf: (integration) => (own.includes(integration) ? undefined : ruleOf(integration)),
    newId: () => crypto.randomUUID(),
  });
  return {
    paths: superviseDelivery(runtime, { command, webhook }),
    start() {
      const store = runtime.store();
      watch.start(store?.alerts, store === undefined ? [] : earlierIncidents(store, clock.wallNow()));
    },
    stop: () => watch.stop(),
  };
}

/** What an earlier run, or another process, has recorded since the last all-clear of each integration. */
function earlierIncidents(store: Store, wallNow: number): readonly EarlierIncident[] {
  const read = (category: string) =>
    store.read({ category, since: wallNow - earlierMs, among: mostEarlier, limit: mostEarlier });
  const cleared = new Map<unknown, number>();
  for (const { id, type, metadata } of read('alert')) if (type === 'cleared') cleared.set(metadata['integration'], id);
  return [...read('integration'), ...read('hook')]
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
  const isCall = type === 'failure' && !integration.startsWith('hook:');
  return isCall ? { integration, kind, cause: 'failures', at } : undefined;
}
