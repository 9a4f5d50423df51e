import { randomUUID } from 'node:crypto';
import { deliveryNames, superviseDelivery } from './alertDelivery.ts';
import type { CheckedAlerts } from './alertOptions.ts';
import type { CallPath } from './calls/callPath.ts';
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

/** How far back failures are looked for at the start: that many of the last ones. */
const mostEarlier = 1_000;
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
    newId: randomUUID,
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

/** Final failures that an earlier run, or another process, has recorded. */
function earlierFailures(store: Store, wallNow: number): readonly EarlierFailure[] {
  const since = wallNow - earlierMs;
  return store
    .read({ category: 'integration', since, limit: mostEarlier })
    .filter(({ type }) => type === 'failure')
    .map(({ at, metadata: { integration, kind } }) => ({
      integration: String(integration),
      kind: typeof kind === 'string' && Object.hasOwn(failureKinds, kind) ? (kind as FailureKind) : 'unknown',
      at,
    }));
}
