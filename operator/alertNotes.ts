import type { AlertNote, NotedAlerts } from '../reader/alertNote.ts';
import { defaultAlertRule } from '../src/policy/face.ts';
import type { ShownName } from '../src/redaction/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import type { WatchedAlert } from '../src/control/face.ts';
import type { AskedRuntime } from './askRuntimes.ts';

/** Events that are read for it. */
const mostOrders = 2000;
const mostFailures = 5000;
/** Time for which a note on what nobody watches is looked for, in ms: nothing says when that began. */
const unwatchedMs = 7 * 24 * 60 * 60_000;

/** The view with the last note on each alert. One ends with its alert; where nobody watches, with a time that is as quiet as an all-clear. */
export async function withNotes<V extends NotedAlerts>(
  reader: Pick<StoreReader, 'events'>,
  view: V,
  now: number,
  shown: ShownName,
): Promise<V & NotedAlerts> {
  const { open, unwatched } = view;
  if (open.length + unwatched.length === 0) return view;
  const since = Math.min(...open.map(({ raisedAt }) => raisedAt), ...(unwatched.length > 0 ? [now - unwatchedMs] : []));
  const events = await reader.events({ category: 'operator', since: Math.max(0, since - 1000), limit: mostOrders });
  const notes = new Map<string, AlertNote>();
  for (const { type, at, metadata } of events) {
    if (type !== 'acknowledged' && type !== 'snoozed') continue;
    const { alert, integration, by, why, until } = metadata;
    notes.set(typeof alert === 'string' ? alert : keyOf(shown(String(integration))), {
      ...{ is: type, at },
      ...(typeof by === 'string' && { by }),
      ...(typeof why === 'string' && { why }),
      ...(typeof until === 'number' && { until }),
    });
  }
  return {
    ...view,
    open: open.map((alert) => ({ ...alert, ...noted(notes.get(alert.id)) })),
    unwatched: await Promise.all(
      unwatched.map(async (alert) => {
        const note = notes.get(keyOf(shown(alert.integration)));
        const goesOn = note !== undefined && (await goesOnSince(reader, alert.integration, note.at, now));
        return { ...alert, ...(goesOn && noted(note)) };
      }),
    ),
  };
}

const keyOf = (integration: string): string => `of ${integration}`;
const noted = (note: AlertNote | undefined): { readonly note?: AlertNote } => (note === undefined ? {} : { note });

/** Tells whether there was no time without a failure since that would have been an all-clear. */
async function goesOnSince(
  reader: Pick<StoreReader, 'events'>,
  integration: string,
  since: number,
  now: number,
): Promise<boolean> {
  const hook = /^hook:(.+)$/s.exec(integration)?.[1];
  const of = hook === undefined ? { integration } : { category: 'hook' };
  const events = await reader.events({ ...of, since, until: now + 1, failed: true, limit: mostFailures });
  const own = events.filter(({ metadata }) => hook === undefined || metadata['hook_name'] === hook);
  // The first times are not known of more than are read: it goes on all the same.
  const times = own.length < mostFailures ? [since, ...own.map(({ at }) => at)] : own.map(({ at }) => at);
  return times.every((at, index) => index === 0 || at - (times[index - 1] ?? at) < defaultAlertRule.quietMs);
}

/** Gives what live gateways say of the alerts that they watch, by integration: of several the one that clears it last. */
export function watchedAlerts(
  asked: readonly Pick<AskedRuntime<readonly WatchedAlert[]>, 'answer'>[],
): ReadonlyMap<string, WatchedAlert> {
  const answers = asked.flatMap(({ answer = [] }) => answer);
  const ordered = [
    ...answers.filter(({ once }) => once === undefined),
    ...answers.filter(({ once }) => once !== undefined),
  ];
  return new Map(ordered.map((answer) => [answer.integration, answer]));
}
