import type { OpenAlert } from '../policy/records/alertRecord.ts';
import type { Store } from '../store/store.ts';

/** Targets of alerts beside subscribers. */
export type AlertTarget = 'command' | 'webhook';

/** An open alert that did not arrive, and where. */
interface Undelivered {
  readonly alert: OpenAlert;
  readonly to: AlertTarget;
}

/** Newest events of alerts that are looked at. */
const mostEvents = 1000;

/** The open alerts that an earlier run could not deliver, as a stop or a limit cut it, and nobody has since. Never rejects. */
export async function undeliveredAlerts(
  store: Pick<Store, 'read'>,
  open: readonly OpenAlert[],
): Promise<readonly Undelivered[]> {
  if (open.length === 0) return [];
  const since = Math.min(...open.map(({ raisedAt }) => raisedAt));
  const events = await store.read({ category: 'alert', since, limit: mostEvents });
  return open.flatMap((alert) =>
    (['command', 'webhook'] as const).flatMap((to) => {
      const last = events.findLast(
        ({ type, metadata }) => type !== 'raised' && metadata['alert'] === alert.id && metadata['to'] === to,
      );
      return last?.type === 'undelivered' ? [{ alert, to }] : [];
    }),
  );
}
