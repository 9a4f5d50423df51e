import { hostname } from 'node:os';
import type { OpenAlert } from '../policy/records/alertRecord.ts';
import { type AlertNews, alertText, nextOfAlert } from '../policy/records/alertText.ts';
import { type AlertRule, defaultAlertRule, deliveryNames } from '../policy/alerts.ts';
import type { FactOf, Told } from '../policy/facts/facts.ts';
import type { AlertOrigin } from '../policy/facts/alertFacts.ts';
import { type FailureKind, failureKinds } from '../policy/failures/failure.ts';
import type { CheckedAlerts } from '../runtime/alertOptions.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { EventRow } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { AlertWatch } from './alertWatch.ts';
import { forChat, superviseDelivery } from './delivery.ts';
import type { EarlierIncident } from './incident.ts';
import { refusing } from './outages.ts';
import { type AlertTarget, undeliveredAlerts } from './undelivered.ts';

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
      const { accounts } = runtime.budgets;
      const own = path && refusing(path);
      const isSpent = (accounts.get(integration) ?? accounts.get(`integration:${integration}`))?.isSpent;
      return own?.because === undefined && isSpent === true ? { refused: clock.now(), because: spent } : own;
    },
    statistics,
  });
  const delivery = deliverAlerts(runtime, { command, webhook });
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

/** No circuit: whoever gave the budget wants its calls to wait. */
const spent = { now: 'its budget is spent', until: 'its budget is raised or begins anew', isHeld: true };

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

/** Sends alerts and all-clears to a command and a webhook. Tells an alert that does not arrive as `alert.undelivered`. */
function deliverAlerts(runtime: Runtime, to: Pick<CheckedAlerts, 'command' | 'webhook'>) {
  const senders = superviseDelivery<Told<AlertNews>>(runtime, to, deliveryNames);
  for (const target of senders.keys()) {
    // Not awaited by the bus: a delivery never rejects.
    runtime.bus.on('alert.raised', (news) => void deliver(target, news));
    runtime.bus.on('alert.cleared', (news) => void deliver(target, news));
  }

  return {
    /** Sends an alert that an earlier run could not, where it still goes. Never rejects. */
    async again(news: Told<FactOf<'alert.raised'>>, to: AlertTarget): Promise<void> {
      if (!(await deliver(to, news))) return;
      const { alert, integration } = news;
      runtime.bus.tell({ type: 'alert.delivered_late', alert, integration, to });
    },
  };

  async function deliver(to: AlertTarget, news: Told<AlertNews>): Promise<boolean> {
    const { alert, integration } = news;
    const outcome = await senders.get(to)?.({ ...news, text: chatText(news) }, alert);
    if (outcome?.ok === false)
      runtime.bus.tell({ type: 'alert.undelivered', alert, integration, to, error: outcome.failure.message });
    return outcome?.ok === true;
  }
}

/** The line of an alert, in which what others have said mentions nobody in a chat and hides no link. */
function chatText(news: AlertNews): string {
  return alertText(news.type === 'alert.cleared' ? news : { ...news, message: forChat(news.message) });
}
