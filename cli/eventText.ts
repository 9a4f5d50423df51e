import { type EventRow, wentWrong } from '../src/store/face.ts';
import { textWidth } from '../src/policy/text/face.ts';
import { instanceName } from '../operator/integrationView.ts';
import { eventSentence } from './eventSentence.ts';
import type { Io } from './io.ts';
import { sanitize } from './sanitize.ts';
import { type Cell, renderTable, textBelow } from './table.ts';
import { createStyle, localTime, type Style } from './text.ts';

/** Events as a table that fits the terminal. @param running - pids of the runtimes that are entered. */
export function eventTable(rows: readonly EventRow[], running: ReadonlySet<number>, io: Io): string {
  const style = createStyle(io);
  const origins = createOrigins(rows, running);
  const isNarrow = io.columns < narrowColumns;
  const today = localTime(io.now()).slice(0, dayLength);
  const isToday = rows.every(({ at }) => localTime(at).startsWith(today));
  const timeOf = ({ at }: EventRow): string => (isNarrow ? shortTime(at, isToday) : localTime(at));
  const columns = [
    { title: 'TIME' },
    { title: 'EVENT' },
    { title: 'OF', hasIds: true },
    { title: 'WHAT', stacks: true, mostLines },
  ];
  return renderTable(
    columns,
    rows.map((event) => {
      const [, ...cells] = toCells(event, style, origins);
      return [{ text: timeOf(event), paint: style.dim }, ...cells];
    }),
    io.columns,
  );
}

/** The end of an event says whether to try again, and how it ended: it is folded rather than cut. */
const mostLines = 12;

/** Narrower terminals have no room for a date and milliseconds. */
const narrowColumns = 80;
const dayLength = '2026-01-01'.length;

/** `10:29:44`, and of another day `01-01 10:29:44`. */
function shortTime(at: number, isToday: boolean): string {
  return localTime(at).slice(isToday ? dayLength + 1 : '2026-'.length, '2026-01-01 10:29:44'.length);
}

/** Widths of the first columns of a line, which cannot know what comes after it. */
const timeWidth = 23;
const typeWidth = 28;
const subjectWidth = 20;

/** An event as a line of its own, for those that come one by one; what the terminal has no room for stands below it. */
export function eventLine(event: EventRow, io: Io, origins: Origins): string {
  const [time = '', type, subject = '', cell = ''] = toCells(event, createStyle(io), origins);
  const what = sanitize(textOf(cell));
  const left = io.columns - timeWidth - typeWidth - subjectWidth - 6;
  if (left >= leastWhat) {
    const start = [padded(time, timeWidth), padded(type, typeWidth), padded(subject, subjectWidth)].join('  ');
    if (textWidth(what) <= left) return `${start}  ${what}`.trimEnd() + '\n';
    return lines([start, ...textBelow(what, io.columns, mostLines)]);
  }
  const shown =
    typeof time === 'object' && io.columns < narrowColumns ? { ...time, text: shortTime(event.at, false) } : time;
  const start = [padded(shown, 0), padded(type, typeWidth), padded(subject, 0)].join('  ');
  return lines([start, ...textBelow(what, io.columns, mostLines)]);
}

const lines = (parts: readonly string[]): string => parts.map((part) => `${part.trimEnd()}\n`).join('');

/** Below this, text is too short to say anything. */
const leastWhat = 40;

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
    eventSentence({ ...event, metadata: rest }),
  ];
}

/** The name of whose event it is: with the pid of the runtime where several record events of that name at a time. */
export type Origins = (subject: string, event: EventRow) => string;

/**
 * Names origins. Runs one after the other, as `unwedge run` makes them, need no pid to be told apart: only runtimes that are entered together, or take turns.
 * @param rows - what is shown at once, oldest first; what comes after it is taken into account from then on.
 * @param running - pids of the runtimes that are entered.
 */
export function createOrigins(rows: readonly EventRow[], running: ReadonlySet<number>): Origins {
  const known = new Map<string, { readonly pids: Set<number>; last: number; isShared: boolean }>();
  const noted = new WeakSet<EventRow>();
  const note = (subject: string, event: EventRow): number | undefined => {
    const pid = event.metadata['runtime_pid'];
    if (typeof pid !== 'number') return undefined;
    // Once each: one that is shown is no turn that its process takes.
    if (noted.has(event)) return pid;
    noted.add(event);
    const name = known.get(subject) ?? { pids: new Set<number>(), last: pid, isShared: false };
    known.set(subject, name);
    const takesTurns = name.last !== pid && name.pids.has(pid);
    name.pids.add(pid);
    name.last = pid;
    name.isShared ||= takesTurns || [...name.pids].filter((each) => running.has(each)).length > 1;
    return pid;
  };
  for (const row of rows) note(splitSubject(row.metadata).subject, row);
  return (subject, event) => {
    const pid = note(subject, event);
    const isShared = subject !== '' && pid !== undefined && known.get(subject)?.isShared === true;
    return isShared ? instanceName(subject, pid) : subject;
  };
}

/** The fields that say whose event it is, the most telling first. */
const subjectFields = [
  'hook_name',
  'integration',
  'workflow',
  'gateway',
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
