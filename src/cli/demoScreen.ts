import type { Fault } from '../demo/fault.ts';
import { mcpCommand } from '../demo/mcpCommand.ts';
import type { FaultReport, TourReport } from '../demo/report.ts';
import { outcomeLine, tableHeadings, tableRow } from '../demo/table.ts';
import { watchdogMs } from '../demo/watchdogFault.ts';
import { formatDuration } from '../policy/duration.ts';
import { fitText } from '../policy/textWidth.ts';
import type { Io } from './io.ts';
import { sanitize } from './sanitize.ts';
import { createStyle } from './style.ts';
import { type Cell, type Column, renderTable } from './table.ts';

/** The tour as people see it: a heading, a line for each fault when it is over, a table and a verdict. */
export interface DemoScreen {
  begin(faults: readonly Fault[]): void;
  fault(report: FaultReport): void;
  /** @param kept - whether the database stays. */
  end(report: TourReport, kept: boolean): void;
}

/** Width of what is not printed on a terminal. */
const usualWidth = 100;
const nameWidth = 12;

const columns: readonly Column[] = tableHeadings.map((title) => ({
  title,
  align: title === 'TOOK' ? 'right' : 'left',
}));

export function createDemoScreen(io: Io): DemoScreen {
  const { bold, green, red } = createStyle(io);
  const width = Number.isFinite(io.columns) ? io.columns : usualWidth;
  const print = (line = ''): void => void io.stdout.write(`${line}\n`);
  const detail = (name: string, text: string): void => print(`  ${name.padEnd(nameWidth)}${sanitize(text)}`);

  return {
    begin(faults) {
      const lanes = new Set(faults.map(({ lane }) => lane));
      const sessions = lanes.size === 1 ? '1 session' : `${lanes.size} sessions side by side`;
      print(bold(`unwedge fault tour: ${count(faults.length, 'fault')}, ${sessions}`));
      if (lanes.has('mcp')) detail('MCP server', mcpCommand().label);
      if (lanes.has('watchdog')) detail('watchdog', `${formatDuration(watchdogMs)} for the tour, 5m by default`);
      print();
    },

    fault(report) {
      const mark = report.ok ? green('✓') : red('✗');
      const start = `${report.fault.padEnd(nameWidth)}  ${formatDuration(report.elapsedMs).padStart(5)}  `;
      print(`  ${mark} ${start}${fitText(sanitize(outcomeLine(report)), width - start.length - 4)}`);
      for (const problem of report.problems) print(`      ${red(sanitize(problem))}`);
    },

    end(report, kept) {
      print();
      io.stdout.write(renderTable(columns, report.faults.map(paintedRow), width));
      print();
      print(report.ok ? green(verdict(report)) : red(verdict(report)));
      const { ok, sessions, messages, processes, store, problems } = report;
      detail('sessions', `${sessions}${ok ? ', each answered its last message' : ''}`);
      const during = `${messages.duringRetries} of them sent during a retry`;
      detail('heartbeats', `${messages.heartbeats}${ok ? ', processed in order' : ''}, ${during}`);
      detail('processes', `${processes.started} started, ${processes.left.length || 'none'} left`);
      for (const problem of problems) print(`  ${red(sanitize(problem))}`);
      print();
      if (kept) {
        detail('recorded in', store.path);
        detail('next', `npx unwedge events --failed --db ${store.path}`);
      } else if (store.kind === 'memory') detail('recorded in', 'memory, which is gone');
      else detail('next', 'npx unwedge demo --keep leaves what was recorded, for npx unwedge events');
    },
  };

  function paintedRow(report: FaultReport): Cell[] {
    const [name = '', ...cells] = tableRow(report);
    return [{ text: name, paint: report.ok ? green : red }, ...cells];
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
