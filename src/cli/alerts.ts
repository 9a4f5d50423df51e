import { type AlertView, readAlerts } from '../store/alertView.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { toJson } from './sanitize.ts';
import { createStyle, type Style } from './style.ts';
import { type Cell, renderTable } from './table.ts';
import { ago } from './timeText.ts';

export const alerts = defineCommand({
  name: 'alerts',
  summary: 'which integrations fail so often that somebody should look, and which did',
  usage: 'alerts [--json] [--db FILE]',
  details: [
    'A running gateway raises an alert at 5 final failures of one integration within 10 minutes, unless it was given other thresholds, and',
    'clears it after 10 minutes without one or when the circuit closes. Failures of `unwedge run` and `unwedge hook` have nobody who',
    'watches: those of the last 10 minutes are judged now, and shown as unwatched.',
  ].join('\n'),
  options: {},
  async run(args, io) {
    const now = io.now();
    const { path, view } = await readDatabase(args.db, io, (reader) => ({
      path: reader.path,
      view: readAlerts(reader, now),
    }));
    if (args.json) io.stdout.write(toJson({ database: path, ...view }));
    else if (view.open.length + view.unwatched.length + view.cleared.length === 0)
      io.stdout.write('No alerts are on record.\n');
    else io.stdout.write(alertTable(view, now, io));
    return 0;
  },
});

/** Alerts as rows, what is open first. */
export function alertTable(view: Partial<AlertView>, now: number, io: Io): string {
  const style = createStyle(io);
  return renderTable(
    [
      { title: 'ALERT' },
      { title: 'INTEGRATION' },
      { title: 'SINCE' },
      { title: 'FAILURES', align: 'right' },
      { title: 'LAST FAILURE' },
      { title: 'WHAT' },
    ],
    [...openRows(view, now, style), ...clearedRows(view, now, style)],
    io.columns,
  );
}

function openRows({ open = [], unwatched = [] }: Partial<AlertView>, now: number, { red, yellow }: Style): Cell[][] {
  return [
    ...open.map(({ integration, kind, message, failures, raisedAt, lastFailureAt }) => [
      { text: 'open', paint: red },
      integration,
      ago(raisedAt, now),
      String(failures),
      ago(lastFailureAt, now),
      `${kind}: ${message}`,
    ]),
    ...unwatched.map(({ integration, kind, message, failures, lastFailureAt }) => [
      { text: 'unwatched', paint: yellow },
      integration,
      '',
      String(failures),
      ago(lastFailureAt, now),
      kind === undefined ? message : `${kind}: ${message}`,
    ]),
  ];
}

function clearedRows({ cleared = [] }: Partial<AlertView>, now: number, { dim }: Style): Cell[][] {
  return cleared.map(({ integration, kind, message, failures, raisedAt, lastFailureAt, clearedAt, clearedBy }) => [
    { text: `cleared ${ago(clearedAt, now)}, ${clearedBy === 'quiet' ? 'quiet' : 'circuit closed'}`, paint: dim },
    integration,
    ago(raisedAt, now),
    String(failures),
    ago(lastFailureAt, now),
    `${kind}: ${message}`,
  ]);
}
