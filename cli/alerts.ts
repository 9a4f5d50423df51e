import type { OpenAlert } from '../src/policy/records/face.ts';
import { type WatchedAlert, readStatusAnswer } from '../src/control/face.ts';
import { troubleText } from '../operator/troubleText.ts';
import { defaultAlertRule } from '../src/policy/face.ts';
import { createShownNames, withShownNames } from '../src/redaction/face.ts';
import type { AlertView, ClearedAlert, UnwatchedAlert } from '../reader/storeReader.ts';
import { defineCommand, text } from './command.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { noteText, raisedRecords, standingOf, standingOfUnwatched, standingText, watchesOf } from './alertStanding.ts';
import { UsageError } from './errors.ts';
import { giveAndSay, reasonOption } from './orders.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { dbWords, formatDuration, wrapWords } from '../src/policy/text/face.ts';
import { parseDuration } from '../operator/parseDuration.ts';
import { silenceText } from './silentRuntimes.ts';
import { mattersOfRuntimes } from './attention.ts';
import { askRuntimes } from '../operator/askRuntimes.ts';
import { isPutAway, type Noted, type NotedAlerts } from '../reader/alertNote.ts';
import { withNotes } from '../operator/alertNotes.ts';
import { judgedOutside } from '../operator/judgedOutside.ts';
import { runtimesOf, withLastSigns } from '../operator/unlisted.ts';
import { createStyle, type Style, ago } from './text.ts';
import { type Cell, figure, tableOf } from './table.ts';

export const command = defineCommand({
  usage: 'alerts [--ack NAME | --snooze NAME --for TIME] [--by WHO] [--reason TEXT] [--json] [--db FILE]',
  details: [
    'A running gateway or proxy raises an alert at 5 final failures of one integration within 10 minutes, or at 5 crashes of what is',
    'behind it, also when every call survives them; unless it was given other thresholds, or at a success rate that is too low, where it',
    'was told which is. It clears it after 10 minutes without either, or when the circuit closes and it does not keep crashing, and one by',
    'rate when the rate is high enough again; none while an open circuit refuses calls. Failures of `unwedge run` and `unwedge hook` have nobody who watches: those of',
    'the last 10 minutes are judged now, and shown as unwatched. FAILURES and CRASHES of an alert are those that raised it and all since, until it is',
    'cleared: `unwedge status` counts the last 10 minutes and the last 24 hours.',
    'With --ack you say that you look after the alert of NAME: `status` and the dashboard ask nobody else for it. --snooze puts it off for a time,',
    'such as 2h. Both end with the alert, need no gateway, and are on record with who, when and why; what fails goes on being counted.',
  ].join('\n'),
  options: {
    ack: text('NAME', 'acknowledge the alert of this integration', 'integrations'),
    snooze: text('NAME', 'put off the alert of this integration', 'integrations'),
    for: text('TIME', 'how long --snooze puts it off: 30m, 2h; at most 30d'),
    by: text('WHO', 'who says so; without it the user who runs the command'),
    ...reasonOption,
  },
  async run(args, io) {
    const { ack, snooze, reason, by } = args;
    const name = ack ?? snooze;
    if (ack !== undefined && snooze !== undefined) throw new UsageError('--ack and --snooze exclude each other');
    if (name === undefined && (reason ?? by) !== undefined)
      throw new UsageError(`${reason === undefined ? '--by' : '--reason'} goes with --ack or --snooze`);
    if ((snooze === undefined) !== (args.for === undefined))
      throw new UsageError(
        snooze === undefined ? '--for goes with --snooze' : '--snooze needs --for, such as --for 2h',
      );
    if (name !== undefined) {
      const order = ack === undefined ? 'snooze' : 'acknowledge';
      return giveAndSay({ order, name, target: snoozedFor(args.for), reason, by: by?.trim() || undefined }, args, io);
    }
    const now = io.now();
    const names = createShownNames();
    const { path, rows, found, integrations, raised } = await readDatabase(args.db, io, async (reader) => {
      const found = await withNotes(reader, await reader.alerts(now), now, names);
      return {
        path: reader.path,
        rows: await withLastSigns(await runtimesOf(reader, now), reader),
        found,
        integrations: found.unwatched.length === 0 ? [] : (await reader.status(now)).integrations,
        raised: await raisedRecords(reader, found.open),
      };
    });
    const [asked, watches] = await Promise.all([
      askRuntimes(rows, io, 'status', readStatusAnswer),
      watchesOf(rows, io),
    ]);
    const silent = mattersOfRuntimes(asked, io.now(), undefined, dbWords(args.db));
    const outside = judgedOutside(found.unwatched, integrations, asked, names);
    const view = withShownNames({ ...found, unwatched: outside }, names);
    const open = view.open.map((alert) => ({ ...alert, ...standingOf(alert, { raised, watches, now }, args.db) }));
    const unwatched = view.unwatched.map((alert) => ({ ...alert, ...standingOfUnwatched(alert, args.db) }));
    const watched = withShownNames([...watches.alerts.values()], names);
    const unrecorded = watched.filter((alert) => alert.unrecorded === true && !isOnRecord(alert, view));
    if (args.json) {
      io.stdout.write(toJson({ database: path, ...view, open, unrecorded, unwatched, attention: silent }));
      return 0;
    }
    io.stdout.write(silenceText(silent, io));
    if (unrecorded.length > 0) io.stdout.write(unrecordedText(unrecorded, io));
    else if (view.open.length + view.unwatched.length + view.cleared.length === 0)
      io.stdout.write(`${wrapWords(emptyText, io.columns).join('\n')}\n`);
    if (view.open.length + view.unwatched.length + view.cleared.length > 0) {
      const standings = [...open, ...unwatched].map((alert) => standingText(alert, now, io));
      const where = `${createStyle(io).bold(sanitize(path))}\n`;
      io.stdout.write([where, alertTable(view, now, io), ...standings].join('\n'));
    }
    return 0;
  },
});

/** @throws UsageError for what is no time. */
function snoozedFor(time: string | undefined): string | undefined {
  try {
    const forMs = time === undefined ? 1 : parseDuration('--for', time);
    if (forMs > 0) return time;
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
  throw new UsageError(`Expected \`--for\` to be more than 0, got ${quoted(time ?? '')}`);
}

const emptyText =
  'No alerts are on record: a gateway or proxy raises one at 5 failures or crashes within 10 minutes, unless it was given others.';

/** A store that has recovered was given the alert since, of which its gateway does not hear; of an integration one at most is open. */
function isOnRecord({ integration }: WatchedAlert, { open }: AlertView): boolean {
  return open.some((alert) => alert.integration === integration);
}

/** Alerts that a gateway has in its memory alone: its store did not take them. */
function unrecordedText(unrecorded: readonly WatchedAlert[], io: Io): string {
  const names = unrecorded.map(({ integration }) => sanitize(integration)).join(', ');
  const what = unrecorded.length === 1 ? 'An alert is open that is' : 'Alerts are open that are';
  return `${wrapWords(`${what} not on record, in the memory of its gateway alone: ${names}`, io.columns).join('\n')}\n`;
}

type ShownAlerts = Partial<NotedAlerts & Pick<AlertView, 'cleared'>>;

type ShownAlert = Noted<OpenAlert | UnwatchedAlert> | ClearedAlert;

/** Alerts as rows, what is open first. */
export function alertTable(view: ShownAlerts, now: number, io: Io): string {
  const style = createStyle(io);
  const { open = [], unwatched = [], cleared = [] } = view;
  const rows: readonly ShownAlert[] = [...open, ...unwatched, ...cleared];
  const table = tableOf(rows, io.columns, [
    { title: 'ALERT', cell: (alert) => stateOf(alert, now, style) },
    { title: 'INTEGRATION', hasNames: true, cell: ({ integration }) => integration },
    { title: 'SINCE', rank: 3, cell: (alert) => ('raisedAt' in alert ? ago(alert.raisedAt, now) : '') },
    figure('FAILURES', ({ failures }) => failures, 1),
    figure('CRASHES', ({ crashes }) => crashes, 2),
    { title: 'LAST', rank: 4, cell: ({ lastFailureAt }) => ago(lastFailureAt, now) },
    cleared.length > 0 && { title: 'CLEARED', rank: 5, cell: (alert) => endText(alert, now) },
    { title: 'WHAT', stacks: 'first', cell: (alert) => troubleText(alert, 'clearedAt' in alert) },
  ]);
  const counts = wrapWords(countsText(view), io.columns).map(style.dim);
  return `${table}${counts.join('\n')}\n${notesText(view, now, io)}`;
}

/** Tells the state of an alert, or the reason why one needs nobody now. */
function stateOf(alert: ShownAlert, now: number, { red, yellow, dim }: Style): Cell {
  if ('clearedAt' in alert) return { text: 'cleared', paint: dim };
  if (alert.note !== undefined && isPutAway(alert.note, now)) return { text: alert.note.is, paint: dim };
  return 'raisedAt' in alert ? { text: 'open', paint: red } : { text: 'unwatched', paint: yellow };
}

/** Tells when and why an alert was cleared. */
function endText(alert: ShownAlert, now: number): string {
  return 'clearedAt' in alert ? `${ago(alert.clearedAt, now)}, ${endTexts[alert.clearedBy]}` : '';
}

/** Writes the watcher of each alert, a line each. */
function notesText({ open = [], unwatched = [] }: ShownAlerts, now: number, io: Io): string {
  return [...open, ...unwatched]
    .flatMap(({ integration, note }) =>
      note === undefined ? [] : [`${sanitize(integration)}: ${noteText(note, now)}`],
    )
    .flatMap((line) => wrapWords(line, io.columns))
    .map((line) => `${line}\n`)
    .join('');
}

/** `status` counts the last 10 minutes and the last day: these are others. */
function countsText({ open = [], unwatched = [], cleared = [] }: ShownAlerts): string {
  const ofAlerts = 'those that raised the alert and all since';
  const within = formatDuration(defaultAlertRule.windowMs);
  const told = [
    ...(open.length + cleared.length > 0 ? [ofAlerts] : []),
    ...(unwatched.length > 0 ? [`of unwatched ones those of the last ${within}`] : []),
  ];
  return `FAILURES and CRASHES: ${told.join('; ')}.`;
}

const endTexts = { quiet: 'quiet', closed: 'circuit closed', recovered: 'success rate recovered' } as const;
