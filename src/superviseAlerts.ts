import { superviseDelivery } from './alertDelivery.ts';
import type { CheckedAlerts } from './alertOptions.ts';
import type { CallPath } from './calls/callPath.ts';
import { deliveryNames } from './policy/alerts.ts';
import { type FailureKind, failureKinds } from './policy/failure.ts';
import type { Runtime } from './runtime.ts';
import type { Store } from './store/store.ts';
import { createAlertWatch, type EarlierFailure } from './telemetry/alerts.ts';

/** The alerts of a gateway. */
export interface SupervisedAlerts {
  /** Integrations that deliver them. */
  readonly paths: readonly Pick<CallPath<unknown, unknown>, 'name' | 'link' | 'stats' | 'reset' | 'stop'>[];
  /** Begins to watch, with what is on record; the store is open. */
  start(): void;
  stop(): void;
}

/** How far back failures are looked for at the start: among so many of the last events, whatever the size of the file. */
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
      watch.start(store?.alerts, store === undefined ? [] : earlierFailures(store, clock.wallNow()));
    },
    stop: () => watch.stop(),
  };
}

/** Final failures that an earlier run, or another process, has recorded since the last all-clear of each integration. */
function earlierFailures(store: Store, wallNow: number): readonly EarlierFailure[] {
  const read = (category: string) =>
    store.read({ category, since: wallNow - earlierMs, among: mostEarlier, limit: mostEarlier });
  const cleared = new Map<unknown, number>();
  for (const { id, type, metadata } of read('alert')) if (type === 'cleared') cleared.set(metadata['integration'], id);
  return read('integration')
    .filter(({ id, type, metadata }) => type === 'failure' && id > (cleared.get(metadata['integration']) ?? 0))
    .map(({ at, metadata: { integration, kind } }) => ({
      integration: String(integration),
      kind: typeof kind === 'string' && Object.hasOwn(failureKinds, kind) ? (kind as FailureKind) : 'unknown',
      at,
    }));
}
