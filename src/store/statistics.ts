import type { CallFiguresRow, CallTotals } from '../policy/callFigures.ts';

/** How calls ended, by integration, tool and minute, of all runtimes that share the store. Nothing here throws. */
export interface CallStatisticsRecords {
  /** Adds to what is kept of the same minute, and to the totals, with the commit of this turn. */
  add(rows: readonly CallFiguresRow[]): void;
  /** Minutes that began at `since` or later, in wall time, oldest first. Rejects never; empty while the store cannot be read. */
  read(since: number): Promise<readonly CallFiguresRow[]>;
  /** All that was ever added, by integration and tool: retention leaves it alone. Rejects never; empty while the store cannot be read. */
  totals(): Promise<readonly CallTotals[]>;
}
