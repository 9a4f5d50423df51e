import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '../testing/demo/fault.ts';
import { faultNames } from '../testing/demo/faultNames.ts';
import { faults } from '../testing/demo/faults.ts';
import { runTour } from '../testing/demo/tour.ts';
import type { Logger } from '../src/index.ts';
import type { ArgsOf } from './command.ts';
import type { form } from './demoCommand.ts';
import { CommandError, unknown } from './errors.ts';
import type { Io } from './io.ts';
import { StoreUnavailableError } from '../src/store/face.ts';
import { sanitize, toJson } from './sanitize.ts';
import { mcpCommand } from '../testing/demo/mcpCommand.ts';
import type { FaultReport, TourReport } from '../testing/demo/report.ts';
import { watchdogMs } from '../testing/demo/watchdogFault.ts';
import { formatDuration, textWidth, wrapWords } from '../src/policy/text/face.ts';
import { createStyle } from './text.ts';
import { type Cell, type Column, renderTable, textBelow } from './table.ts';

/**
 * Runs the fault tour. 0 when every fault ended as it should, else 1; 130 when it was ended by Ctrl-C.
 * @throws UsageError for an unknown fault.
 * @throws CommandError when the database of `--db` cannot be had.
 */
export async function run(args: ArgsOf<typeof form>, io: Io): Promise<number> {
  const chosen = chooseFaults(args.only);
  // Private to this user, as `mkdtemp` makes it.
  const home = mkdtempSync(join(tmpdir(), 'unwedge-demo-'));
  const directory = join(home, 'files');
  mkdirSync(directory);
  const screen = args.json ? undefined : createDemoScreen(io);
  const keeps = args.keep || args.db !== undefined;
  let keep = false;
  try {
    screen?.begin(chosen);
    const report = await runTour({
      faults: chosen,
      store: args.db ?? { path: join(home, 'demo.sqlite'), required: false },
      control: args.db !== undefined,
      directory,
      signal: io.signal,
      onFault: (found) => screen?.fault(found),
      logger: stderrLogger(io),
    });
    const kept = keeps && report.store.kind !== 'memory';
    keep = kept && args.db === undefined && !report.interrupted;
    if (report.interrupted) {
      io.stderr.write(
        `Stopped after ${report.faults.length} of ${chosen.length} faults; ${leftText(report.processes.left)}.\n`,
      );
      return 128 + constants.signals.SIGINT;
    }
    if (args.json) io.stdout.write(toJson({ ...report, store: { ...report.store, kept } }));
    else screen?.end(report, kept);
    return report.ok ? 0 : 1;
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new CommandError(error.message, { cause: error });
    throw error;
  } finally {
    rmSync(keep ? directory : home, { recursive: true, force: true });
  }
}

function chooseFaults(only: string | undefined): readonly Fault[] {
  if (only === undefined) return faults;
  const wanted = only.split(',').map((name) => name.trim());
  for (const name of wanted) {
    if (!faultNames.some((known) => known === name)) throw unknown('fault', name, faultNames);
  }
  return faults.filter(({ name }) => wanted.includes(name));
}

function leftText(left: readonly number[]): string {
  return left.length === 0 ? 'no process is left' : `had to kill ${left.join(', ')}`;
}

/** Logs what the runtime says of its store. Its words on the faults are on the screen, and meant. */
function stderrLogger({ stderr }: Io): Logger {
  const say = (message: string): void => {
    if (/^(?:Nothing is stored|The store)\b/.test(message)) stderr.write(`unwedge: ${sanitize(message)}\n`);
  };
  return { debug: () => undefined, info: () => undefined, warn: say, error: say };
}

/** Width of what is not printed on a terminal. */
const usualWidth = 100;
const nameWidth = 12;
/** Before what belongs to the line above. */
const indent = '    ';

const plain = (text: string): string => text;

/** The tour as people see it: a heading, a line for each fault when it is over, a table and a verdict. */
export function createDemoScreen(io: Io) {
  const { bold, green, red } = createStyle(io);
  const { own = 'npx unwedge' } = io;
  const width = Number.isFinite(io.columns) ? io.columns : usualWidth;
  const print = (line = ''): void => void io.stdout.write(`${line}\n`);
  /** Text after a start, in as many lines as it needs. */
  const hang = (start: string, text: string, paint = plain): void => {
    for (const [index, line] of wrapWords(sanitize(text), width - start.length).entries())
      print((index === 0 ? start : ' '.repeat(start.length)) + paint(line));
  };
  const startOf = (name: string): string => `  ${name.padEnd(nameWidth)}`;
  const detail = (name: string, text: string): void => hang(startOf(name), text);
  /** Prints a text that can be copied on one line. */
  const copied = (name: string, text: string): void => print(startOf(name) + sanitize(text));

  return {
    begin(faults: readonly Fault[]): void {
      const lanes = new Set(faults.map(({ lane }) => lane));
      const sessions = lanes.size === 1 ? '1 session' : `${lanes.size} sessions side by side`;
      print(bold(`unwedge fault tour: ${count(faults.length, 'fault')}, ${sessions}`));
      if (lanes.has('mcp')) detail('MCP server', mcpCommand().label);
      if (lanes.has('watchdog')) detail('watchdog', `${formatDuration(watchdogMs)} for the tour, 5m by default`);
      print();
    },

    fault(report: FaultReport): void {
      const mark = report.ok ? green('✓') : red('✗');
      const { text, cause } = outcomeLine(report);
      const took = formatDuration(report.elapsedMs).padStart(5);
      const start = `${report.fault.padEnd(nameWidth)}  ${took}  ${text}`;
      const beside = report.got.status === 'ok' ? ', ' : ': ';
      const whole = cause === undefined ? start : `${start}${beside}${sanitize(cause)}`;
      const fits = textWidth(whole) + indent.length <= width;
      print(`  ${mark} ${fits ? whole : start}`);
      // The cause is what one looks for: it is moved before it is cut.
      if (!fits) for (const line of textBelow(sanitize(cause ?? ''), width - indent.length)) print(indent + line);
      for (const each of report.problems) hang(`${indent}  `, each, red);
    },

    /** @param kept - whether the database stays. */
    end(report: TourReport, kept: boolean): void {
      print();
      io.stdout.write(renderTable(demoColumns, report.faults.map(row), width));
      print();
      hang('', verdict(report), report.ok ? green : red);
      const { ok, sessions, messages, processes, store, problems } = report;
      detail('sessions', `${sessions}${ok ? ', each answered its last message' : ''}`);
      const during = `${messages.duringRetries} of them sent during a retry`;
      detail('heartbeats', `${messages.heartbeats}${ok ? ', processed in order' : ''}, ${during}`);
      detail('processes', `${processes.started} started, ${processes.left.length || 'none'} left`);
      for (const each of problems) hang('  ', each, red);
      print();
      if (kept) {
        copied('recorded in', store.path);
        copied('next', `${own} events --failed --db ${store.path}`);
      } else if (store.kind === 'memory') detail('recorded in', 'memory, which is gone');
      else detail('next', `${own} demo --keep keeps the records for ${own} events`);
    },
  };

  function row(report: FaultReport): readonly Cell[] {
    return demoRow(report, report.ok ? green : red);
  }
}

function verdict({ ok, faults, problems, elapsedMs }: TourReport): string {
  const took = `in ${formatDuration(elapsedMs)}`;
  if (ok) return `✓ ${count(faults.length, 'fault')}: every call ended as it should and every session went on, ${took}`;
  const failed = faults.filter((fault) => !fault.ok).length;
  return failed === 0
    ? `✗ ${count(problems.length, 'thing')} did not end as it should, ${took}`
    : `✗ ${failed} of ${count(faults.length, 'fault')} did not end as it should, ${took}`;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** The closing table of the tour. What is left out first is said elsewhere: what was recorded in the events, the times in the lines above. */
const demoColumns: readonly Column[] = [
  { title: 'FAULT' },
  { title: 'THE CALLER GOT' },
  { title: 'TOOK', align: 'right', rank: 1 },
  { title: 'SESSION' },
  { title: 'HEARTBEATS', align: 'right', rank: 2 },
  { title: 'RECORDED', rank: 3 },
];

/** Draws one row of the closing table. @param paint - of the name. */
export function demoRow(report: FaultReport, paint: (text: string) => string): readonly Cell[] {
  const { fault, got, elapsedMs, next, recorded } = report;
  return [
    { text: fault, paint },
    outcomeText(got),
    formatDuration(elapsedMs),
    next.answered ? 'answered' : 'nothing',
    String(next.heartbeats),
    recorded[0] ?? 'nothing',
  ];
}

/** Describes the outcome that the caller got, for the line that is printed then, and the cause. */
export function outcomeLine({ got }: FaultReport): { readonly text: string; readonly cause?: string } {
  const text = outcomeText(got);
  if (got.message === undefined) return { text };
  return { text, cause: got.status === 'ok' ? `despite: ${got.message}` : got.message };
}

function outcomeText({ status, kind, synthetic, retries }: FaultReport['got']): string {
  const times = retries === 0 ? '' : `, ${retries} ${retries === 1 ? 'retry' : 'retries'}`;
  switch (status) {
    case 'ok':
      return `result${times}`;
    case 'error':
      return `${synthetic ? 'synthetic' : 'error'}: ${kind ?? 'no record'}${times}`;
    case 'nothing':
      return 'nothing';
  }
}
