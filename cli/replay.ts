import { counted } from '../incident/incidentFiles.ts';
import { IncidentError, readIncident } from '../incident/readIncident.ts';
import { formatDuration } from '../src/policy/text/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import { replay as play } from '../incident/replay/replay.ts';
import type { ReplayLine, ReplayResult } from '../incident/replay/compare.ts';
import { seededRandom } from '../testing/random.ts';
import { SimulatedClock } from '../testing/simulatedClock.ts';
import { defineCommand, flag, list } from './command.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { sanitize, toJson } from './sanitize.ts';
import { type Cell, renderTable } from './table.ts';
import { createStyle, wrapLines } from './text.ts';

/** Most rows of the timeline that are shown, without those that are folded. */
const mostRows = 40;

export const command = defineCommand({
  usage: 'replay DIR [--policy KEY=VALUE] [--all] [--json]',
  details: [
    'DIR is what `unwedge incident` wrote, or the file of the dashboard. Calls come when they came, operations answer, fail or hang as they did;',
    'retries, waits, circuits, refusals and watchdogs are decided anew, by the policies of the incident. Exits 0 when everything ends as it',
    'did, 1 when not. `--policy retry.maxAttempts=5` shows what would have happened with another policy; it may be given more than once.',
  ].join('\n'),
  options: {
    policy: list('KEY=VALUE', 'what is to be otherwise, such as breaker.consecutiveFailures=3'),
    all: flag('every line of the timeline, also those that are far from any difference'),
  },
  operands: ['DIR'],
  async run(args, io) {
    const [path = ''] = args.operands;
    const result = await playAt(path, args.policy);
    io.stdout.write(args.json ? toJson(result) : textOf(result, args.all, io));
    return result.isSame ? 0 : 1;
  },
});

async function playAt(path: string, policy: readonly string[]): Promise<ReplayResult> {
  try {
    return await play(readIncident(path), { clock: new SimulatedClock(), random: seededRandom(1), policy });
  } catch (error) {
    if (error instanceof IncidentError) throw new CommandError(sanitize(error.message), { cause: error });
    if (policy.length > 0 && (error instanceof TypeError || error instanceof RangeError))
      throw new UsageError(sanitize(messageOf(error)), { cause: error });
    if (error instanceof RangeError) throw new CommandError(sanitize(error.message), { cause: error });
    throw error;
  }
}

function textOf(result: ReplayResult, all: boolean, io: Io): string {
  const { subject, lines, first, isSame, overrides, notes } = result;
  const { red, green, yellow, bold } = createStyle(io);
  const rows = all ? lines : foldedLines(lines);
  const shown = all ? rows : rows.slice(0, mostRows);
  const row = (line: ReplayLine | number): Cell[] => {
    if (typeof line === 'number') return ['', `${line} more`, '', { text: 'the same', paint: green }];
    return [
      formatDuration(Math.round(line.recorded?.atMs ?? line.replayed?.atMs ?? 0)),
      sanitize(line.of),
      sanitize(line.recorded?.what ?? '-'),
      { text: playedText(line), paint: line.isSame ? green : line.isAfterEnd === true ? yellow : red },
    ];
  };
  const left = rows.length - shown.length;
  const isFolded = rows.length < lines.length;
  // The text about it stands at the end.
  const isOneFold = isFolded && rows.length === 1;
  const columns = [
    { title: 'AT', align: 'right' as const },
    { title: 'WHAT', hasNames: true },
    { title: 'RECORDED' },
    { title: 'REPLAYED' },
  ];
  const changed = overrides.length === 0 ? '' : `, with ${overrides.map(sanitize).join(', ')}`;
  const name = `The ${subject.kind} ${sanitize(subject.id)}`;
  const head = wrapLines([`${name}, from ${new Date(result.origin).toISOString()}${changed}`], io.columns);
  return [
    `${head.replace(name, () => bold(name))}\n`,
    ...(isOneFold ? [] : [renderTable(columns, shown.map(row), io.columns)]),
    ...(left > 0 ? [`${counted(left, 'row')} more: --all\n`] : isFolded ? ['Every line: --all\n'] : []),
    ...notes.map((note) => `\n${wrapLines([`As recorded: ${sanitize(note)}`], io.columns)}`),
    '\n',
    isSame ? `${green('Same end')}: ${endText(lines)}.\n` : differenceText(first, red, io.columns),
  ].join('');
}

function playedText(line: ReplayLine): string {
  const { isSame, isAfterEnd, replayed } = line;
  if (isSame) return 'the same';
  const what = `${sanitize(replayed?.what ?? '-')}${apartText(line)}`;
  if (isAfterEnd !== true) return what;
  return replayed === undefined ? 'not compared: after the record' : `${what}, after the record`;
}

/** Tells how far apart in time the same event happened. */
function apartText({ recorded, replayed }: ReplayLine): string {
  if (recorded === undefined || recorded.what !== replayed?.what) return '';
  const ms = Math.round(replayed.atMs - recorded.atMs);
  return ms === 0 ? '' : `, ${formatDuration(Math.abs(ms))} ${ms < 0 ? 'earlier' : 'later'}`;
}

function endText(lines: readonly ReplayLine[]): string {
  const same = lines.filter(({ isSame }) => isSame).length;
  const later = lines.length - same;
  const more =
    later === 0 ? '' : `; ${later} came after the record ended and ${later === 1 ? 'is' : 'are'} not compared`;
  return `${counted(same, 'call or change', 'calls and changes')}${more}`;
}

function differenceText(first: ReplayLine | undefined, red: (text: string) => string, width: number): string {
  const { recorded, replayed } = first ?? {};
  const apart = first === undefined ? '' : apartText(first);
  const what = `${sanitize(first?.of ?? '')}: recorded ${sanitize(recorded?.what ?? 'nothing')}, replayed ${sanitize(replayed?.what ?? 'nothing')}${apart}`;
  const at = formatDuration(Math.round(recorded?.atMs ?? replayed?.atMs ?? 0));
  const end = 'It ends otherwise';
  // Painted when it is wrapped: a colour has no width.
  return wrapLines([`${end}. First at ${at}: ${what}`], width).replace(end, () => red(end));
}

/** Lines that are shown before and after one that is not the same. */
const around = 3;
/** A run of lines that is no longer is not worth a fold. */
const shortRun = 2;
/** A timeline in which all is the same is shown whole up to here. */
const shortTimeline = 12;

/** A timeline as a diff shows it: what differs with what is around it, and of each run of other lines their number. */
export function foldedLines(lines: readonly ReplayLine[]): readonly (ReplayLine | number)[] {
  if (lines.length <= shortTimeline && lines.every(({ isSame }) => isSame)) return lines;
  const rows: (ReplayLine | number)[] = [];
  let run: ReplayLine[] = [];
  const close = (): void => {
    rows.push(...(run.length > shortRun ? [run.length] : run));
    run = [];
  };
  for (const [index, line] of lines.entries()) {
    const isNear = lines.slice(Math.max(0, index - around), index + around + 1).some(({ isSame }) => !isSame);
    if (!isNear) {
      run.push(line);
      continue;
    }
    close();
    rows.push(line);
  }
  close();
  return rows;
}
