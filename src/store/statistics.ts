import { type CallFigures, type CallFiguresRow, type CallTotals, noFigures } from '../policy/callFigures.ts';

/** Ends of calls, by integration, tool and minute, of all runtimes that share the store. Nothing here throws. */
export interface CallStatisticsRecords {
  /** Adds to what is kept of the same minute, and to the totals, with the commit of this turn. */
  add(rows: readonly CallFiguresRow[]): void;
  /** Minutes that began at `since` or later, in wall time, oldest first. Rejects never; empty while the store cannot be read. */
  read(since: number): Promise<readonly CallFiguresRow[]>;
  /** All that was ever added, by integration and tool: retention leaves it alone. Rejects never; empty while the store cannot be read. */
  totals(): Promise<readonly CallTotals[]>;
}

/** The figures in a JSON text; a row that somebody damaged counts for nothing. */
export function figuresIn(text: unknown): CallFigures {
  try {
    // Figures of before have counted no restarts.
    const figures = { restarts: 0, ...(JSON.parse(String(text)) as Partial<CallFigures>) };
    return isWhole(figures) ? figures : noFigures;
  } catch {
    return noFigures;
  }
}

function isWhole(figures: Partial<CallFigures> | null): figures is CallFigures {
  const { failed, took, firstChunk, ...counts } = figures ?? {};
  return (
    ['succeeded', 'fellBack', 'refused', 'retries', 'restarts'].every((name) =>
      Number.isFinite(counts[name as keyof typeof counts]),
    ) &&
    typeof failed === 'object' &&
    failed !== null &&
    Object.values(failed).every(Number.isFinite) &&
    [took, firstChunk].every((list) => Array.isArray(list) && list.every(Number.isFinite))
  );
}
