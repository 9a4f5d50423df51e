import { type WatchedAlert, readAlertsAnswer } from '../src/control/face.ts';
import { type OpenAlert, nextOfAlert } from '../src/policy/records/face.ts';
import { defaultAlertRule } from '../src/policy/face.ts';
import { formatDuration, formatSeconds, wrapWords } from '../src/policy/text/face.ts';
import { askRuntimes } from '../operator/askRuntimes.ts';
import { watchedAlerts } from '../operator/alertNotes.ts';
import type { RuntimeRow } from '../src/store/face.ts';
import type { StoreReader, UnwatchedAlert } from '../reader/storeReader.ts';
import type { Io } from './io.ts';
import { sanitize } from './sanitize.ts';
import { createStyle, ago, localTime } from './text.ts';
import type { AlertNote } from '../reader/alertNote.ts';

/** Raiser of an alert, as it is on record; of an older version nothing is. */
interface RaisedRecord {
  readonly gateway?: string | undefined;
  readonly pid?: number | undefined;
  readonly host?: string | undefined;
  readonly quietMs?: number | undefined;
}

/** Watchers of the alerts of a database now. */
interface Watches {
  readonly areWatched: boolean;
  /** Alerts that the gateways that answer say they watch, by integration. */
  readonly alerts: ReadonlyMap<string, WatchedAlert>;
}

/** Facts about an alert beside its figures. */
export interface Standing {
  readonly raisedBy?: Omit<RaisedRecord, 'quietMs'> | undefined;
  /** Condition that makes it go, for people. */
  readonly clears: string;
  /** Time at which it is cleared if nothing fails until then; wall time in ms since the epoch. */
  readonly clearsAt?: number | undefined;
  /** The command to type. */
  readonly next: string;
}

/** Events of alerts that are looked at. */
const mostRecords = 1000;

/** The records of these alerts by their ids, as far as they are kept. */
export async function raisedRecords(
  reader: Pick<StoreReader, 'events'>,
  open: readonly OpenAlert[],
): Promise<ReadonlyMap<string, RaisedRecord>> {
  if (open.length === 0) return new Map();
  const since = Math.min(...open.map(({ raisedAt }) => raisedAt)) - 1000;
  const events = await reader.events({ category: 'alert', since, limit: mostRecords });
  return new Map(
    events
      .filter(({ type }) => type === 'raised')
      .map(({ metadata }): [string, RaisedRecord] => [
        String(metadata['alert']),
        {
          gateway: textOf(metadata['gateway']),
          pid: numberOf(metadata['runtime_pid']),
          host: textOf(metadata['host']),
          quietMs: numberOf(metadata['quiet_ms']),
        },
      ]),
  );
}

/** Asks the gateways of a database, each up to 2 s. Never rejects. */
export async function watchesOf(rows: readonly RuntimeRow[], io: Pick<Io, 'now'>): Promise<Watches> {
  const asked = await askRuntimes(rows, io, 'alerts', readAlertsAnswer);
  return {
    areWatched: asked.some(({ runtime }) => runtime.liveness !== 'dead'),
    alerts: watchedAlerts(asked),
  };
}

/** @param db - what `--db` was given. */
export function standingOf(
  { id, integration, because, lastFailureAt }: OpenAlert,
  { raised, watches, now }: { raised: ReadonlyMap<string, RaisedRecord>; watches: Watches; now: number },
  db: string | undefined,
): Standing {
  const { quietMs: atRaise, ...raisedBy } = raised.get(id) ?? {};
  const known = { ...(raisedBy.host !== undefined && { raisedBy }), next: nextOfAlert(integration, because, db) };
  if (!watches.areWatched) return { ...known, clears: 'by no one now: the next gateway that runs on it looks again' };
  const watched = watches.alerts.get(integration);
  if (watched?.once !== undefined) {
    const quiet = formatDuration(watched.quietMs);
    return { ...known, clears: `once ${watched.once}, or ${quiet} after the last call that failed or was refused` };
  }
  if (because === 'rate' || watched?.isLow === true) return { ...known, clears: 'when enough of its calls succeed' };
  const circuit = because === 'failures' || because === 'circuit' ? 'when its circuit closes, or ' : '';
  // A gateway that was started anew may have another.
  const quietMs = watched?.quietMs ?? atRaise;
  if (quietMs === undefined) return { ...known, clears: `${circuit}after a time without a failure or crash` };
  const clearsAt = lastFailureAt + quietMs;
  const left = clearsAt > now ? `in ${formatDuration(seconds(clearsAt - now))}` : 'now';
  const quiet = `after ${formatDuration(quietMs)} without a failure or crash: ${left} if nothing fails`;
  return { ...known, clears: `${circuit}${quiet}`, clearsAt };
}

/** @param db - what `--db` was given. */
export function standingOfUnwatched({ integration, because }: UnwatchedAlert, db: string | undefined): Standing {
  const { failures, crashes, windowMs } = defaultAlertRule;
  const few = because === 'crashes' ? `${crashes} crashes` : `${failures} failures`;
  return {
    clears: `by itself, once fewer than ${few} are of the last ${formatDuration(windowMs)}`,
    next: nextOfAlert(integration, because, db),
  };
}

/** Writes the text below the table, of one alert. */
export function standingText(
  { integration, raisedAt, raisedBy, clears, next }: Standing & { integration: string; raisedAt?: number },
  now: number,
  io: Io,
): string {
  const { dim } = createStyle(io);
  const by = raisedBy === undefined ? '' : ` by ${placeOf(raisedBy)}`;
  const raised = raisedAt === undefined ? 'nobody watches it' : `raised ${ago(raisedAt, now)}${by}`;
  const lines = [
    ...wrapWords(`${sanitize(integration)}: ${raised}`, io.columns),
    ...wrapWords(`clears ${clears}`, io.columns - 2).map((line) => `  ${line}`),
    `  ${dim('next:')} ${next}`,
  ];
  return `${lines.join('\n')}\n`;
}

function placeOf({ gateway = 'a gateway', pid, host }: RaisedRecord): string {
  return sanitize(`${gateway} (${pid === undefined ? '' : `pid ${pid} `}on ${host ?? ''})`);
}

/** Whole seconds, as ms. */
const seconds = (ms: number): number => Math.ceil(ms / 1000) * 1000;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** Says who looks after an alert or has put it off, since when, and why. */
export function noteText({ is, at, by, why, until }: AlertNote, now: number): string {
  const who = by === undefined ? '' : ` by ${sanitize(by)}`;
  const reason = why === undefined ? '' : `: ${sanitize(why)}`;
  if (is === 'acknowledged') return `acknowledged${who} ${ago(at, now)}${reason}`;
  const left = until ?? at;
  const end = left > now ? `, told again in ${formatSeconds(left - now)}` : ', which is over';
  return `put off${who} until ${localTime(left).slice(0, 16)}${end}${reason}`;
}
