import { hostname } from 'node:os';
import type { CallPath } from '../calls/callPath.ts';
import { CallableIntegration } from '../calls/integration.ts';
import type { AttemptContext } from '../calls/operation.ts';
import { superviseSubprocess } from '../integrations/subprocess/subprocess.ts';
import type { SubprocessOptions } from '../integrations/subprocess/subprocessOptions.ts';
import type { OpenAlert } from '../policy/records/alertRecord.ts';
import { type AlertNews, alertText, nextOfAlert } from '../policy/records/alertText.ts';
import { type AlertRule, defaultAlertRule, deliveryNames } from '../policy/alerts.ts';
import type { FactOf, Told } from '../policy/facts/facts.ts';
import type { AlertOrigin } from '../policy/facts/alertFacts.ts';
import { type FailureKind, failureKinds, type Outcome } from '../policy/failures/failure.ts';
import type { PolicyInput } from '../policy/policyInput.ts';
import type { CheckedAlerts } from '../runtime/alertOptions.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { superviseIntegration } from '../runtime/superviseIntegration.ts';
import type { EventRow } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { KeptConnections } from '../streams/keptConnections.ts';
import { ownDispatcher } from '../streams/ownDispatcher.ts';
import { dropBody } from '../streams/readBody.ts';
import { AlertWatch } from './alertWatch.ts';
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

/** A fact that is delivered, with a line for people: what chats show of a webhook. */
type Delivered = Told<AlertNews> & { readonly text: string };

/** From SIGTERM to SIGKILL: a proxy whose client leaves has 2 s before the client ends it. */
const graceMs = 1000;
/** Alerts that may wait for those before them. */
const queueLength = 100;

/**
 * Sends alerts and all-clears to a command and a webhook, each behind an integration of its own: with limits, a breaker and records.
 * Tells an alert that does not arrive as `alert.undelivered`.
 */
function superviseDelivery(runtime: Runtime, { command, webhook }: Pick<CheckedAlerts, 'command' | 'webhook'>) {
  const senders = new Map<AlertTarget, (news: Told<AlertNews>) => Promise<boolean>>();
  const byCommand = command === undefined ? undefined : commandPath(runtime, command);
  const byWebhook = webhook === undefined ? undefined : webhookPath(runtime, webhook);
  if (byCommand !== undefined) {
    const run = new CallableIntegration(byCommand);
    deliver('command', (news) => run.call({ stdin: `${JSON.stringify(news)}\n` }, { label: news.alert }));
  }
  if (byWebhook !== undefined) {
    const post = new CallableIntegration(byWebhook, 'idempotent');
    deliver('webhook', (news) => post.call(news, { label: news.alert }));
  }

  return {
    /** Sends an alert that an earlier run could not, where it still goes. Never rejects. */
    async again(news: Told<FactOf<'alert.raised'>>, to: AlertTarget): Promise<void> {
      if ((await senders.get(to)?.(news)) !== true) return;
      const { alert, integration } = news;
      runtime.bus.tell({ type: 'alert.delivered_late', alert, integration, to });
    },
  };

  function deliver(to: AlertTarget, send: (news: Delivered) => Promise<Outcome<unknown>>): void {
    const hear = async (news: Told<AlertNews>): Promise<boolean> => {
      const outcome = await send({ ...news, text: chatText(news) });
      if (outcome.ok) return true;
      const { alert, integration } = news;
      runtime.bus.tell({ type: 'alert.undelivered', alert, integration, to, error: outcome.failure.message });
      return false;
    };
    senders.set(to, hear);
    // Not awaited by the bus: a delivery never rejects.
    runtime.bus.on('alert.raised', (news) => void hear(news));
    runtime.bus.on('alert.cleared', (news) => void hear(news));
  }
}

/** The line of an alert, in which what others have said mentions nobody in a chat and hides no link. */
function chatText(news: AlertNews): string {
  if (news.type === 'alert.cleared') return alertText(news);
  const message = news.message.replaceAll('<', '‹').replaceAll('>', '›').replaceAll('@', '＠');
  return alertText({ ...news, message });
}

/** Runs them one at a time and each once, in their order: the work a command has begun cannot be known. */
function commandPath(runtime: Runtime, { attemptMs, ...command }: NonNullable<CheckedAlerts['command']>) {
  const policy: PolicyInput = { ...policyOf(attemptMs), retry: { maxAttempts: 1 }, maxInFlight: 1 };
  const options: SubprocessOptions = { ...command, agent: 'none', graceMs, policy };
  return superviseSubprocess(runtime, deliveryNames.command, options, { serves: true, outlasts: true });
}

function webhookPath(runtime: Runtime, webhook: NonNullable<CheckedAlerts['webhook']>): CallPath<Delivered, void> {
  const { url, headers, attemptMs } = webhook;
  runtime.secrets.learn(headers);
  const kept = new KeptConnections();
  return superviseIntegration<Delivered, void>(runtime, {
    name: deliveryNames.webhook,
    about: { type: 'alert' },
    serves: true,
    outlasts: true,
    onStop: () => kept.close(),
    policy: runtime.policies.policyOf(deliveryNames.webhook, policyOf(attemptMs), 'sdk'),
    async operation(news, { signal }: AttemptContext) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(news),
        // Followed, it would be asked for without its body, or its headers given to somebody else.
        redirect: 'manual',
        signal,
        ...ownDispatcher(kept),
      });
      dropBody(response);
      if (response.ok) return;
      const { status, statusText } = response;
      const hint =
        status >= 300 && status < 400 ? ': redirects are not followed, name the address that it leads to' : '';
      const message = `${`HTTP ${status} ${statusText}`.trimEnd()}${hint}`;
      throw Object.assign(new Error(message), { status, headers: response.headers });
    },
  });
}

/** Waiting behind others counts towards the last limit alone. */
function policyOf(attemptMs: number): PolicyInput {
  return { limits: { idleMs: attemptMs, attemptMs, overallMs: 10 * attemptMs }, queueLength };
}
