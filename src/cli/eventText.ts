import { type EventRow, wentWrong } from '../store/events.ts';
import { fitText, textWidth } from '../policy/textWidth.ts';
import { instanceName } from '../runtime/integrationView.ts';
import type { Io } from './io.ts';
import { sanitize } from './sanitize.ts';
import { createStyle, type Style } from './style.ts';
import { type Cell, renderTable } from './table.ts';
import { localTime } from './timeText.ts';

/** Events as a table that fits the terminal. */
export function eventTable(rows: readonly EventRow[], io: Io): string {
  const style = createStyle(io);
  const origins = createOrigins(rows);
  const columns = [{ title: 'TIME' }, { title: 'EVENT' }, { title: 'OF' }, { title: 'WHAT' }];
  return renderTable(
    columns,
    rows.map((event) => toCells(event, style, origins)),
    io.columns,
  );
}

/** Widths of the first columns of a line, which cannot know what comes after it. */
const timeWidth = 23;
const typeWidth = 28;
const subjectWidth = 20;

/** An event as a line of its own, for those that come one by one. */
export function eventLine(event: EventRow, io: Io, origins: Origins): string {
  const [time, type, subject = '', what = ''] = toCells(event, createStyle(io), origins);
  const start = [padded(time, timeWidth), padded(type, typeWidth), padded(subject, subjectWidth)].join('  ');
  const left = io.columns - timeWidth - typeWidth - subjectWidth - 6;
  // On a terminal too narrow for that, lines are broken by the terminal.
  return (
    `${start}  ${left < leastWhat ? sanitize(textOf(what)) : fitText(sanitize(textOf(what)), left)}`.trimEnd() + '\n'
  );
}

const leastWhat = 10;

function padded(cell: Cell = '', width: number): string {
  const text = sanitize(textOf(cell));
  const padding = ' '.repeat(Math.max(0, width - textWidth(text)));
  return (typeof cell === 'object' ? cell.paint(text) : text) + padding;
}

function textOf(cell: Cell): string {
  return typeof cell === 'object' ? cell.text : cell;
}

function toCells(event: EventRow, style: Style, origins: Origins): Cell[] {
  const type = `${event.category}/${event.type}`;
  const { subject, rest } = splitSubject(event.metadata);
  return [
    { text: localTime(event.at), paint: style.dim },
    wentWrong(event) ? { text: type, paint: style.red } : type,
    origins(subject, event),
    describe(rest),
  ];
}

/** The name of whose event it is: with the pid of the runtime where several have recorded events of that name. */
export type Origins = (subject: string, event: EventRow) => string;

/** @param rows - what is shown at once; what comes after it is taken into account from then on. */
export function createOrigins(rows: readonly EventRow[] = []): Origins {
  const pids = new Map<string, Set<number>>();
  const note = (subject: string, { metadata: { runtime_pid: pid } }: EventRow): number | undefined => {
    if (typeof pid !== 'number') return undefined;
    const known = pids.get(subject) ?? new Set();
    pids.set(subject, known.add(pid));
    return pid;
  };
  for (const row of rows) note(splitSubject(row.metadata).subject, row);
  return (subject, event) => {
    const pid = note(subject, event);
    const isShared = subject !== '' && pid !== undefined && (pids.get(subject)?.size ?? 0) > 1;
    return isShared ? instanceName(subject, pid) : subject;
  };
}

/** The fields that say whose event it is, the most telling first. */
const subjectFields = [
  'hook_name',
  'integration',
  'workflow',
  'session',
  'child',
  'process',
  'supervisor',
  'tool_name',
  'to',
] as const;

type Metadata = EventRow['metadata'];

function splitSubject(metadata: Metadata): { subject: string; rest: Metadata } {
  const name = subjectFields.find((field) => typeof metadata[field] === 'string');
  if (name === undefined) return { subject: '', rest: metadata };
  const { [name]: subject, ...rest } = metadata;
  return { subject: String(subject), rest };
}

/** Not for a line: found in `--json`. */
const longFields = new Set(['stack', 'call', 'input', 'runtime_pid']);

/** The error first, then what else is known as `name=value`. */
function describe({ error, ...rest }: Metadata): string {
  const fields = Object.entries(rest)
    .filter(([name, value]) => !longFields.has(name) && value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
  if (typeof error !== 'string') return fields;
  return fields === '' ? error : `${error} (${fields})`;
}
