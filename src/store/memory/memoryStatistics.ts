import { addFigures, type CallFiguresRow, type CallTotals, noFigures } from '../../policy/callFigures.ts';
import type { CallStatisticsRecords } from '../statistics.ts';
import type { MemoryDatabase } from './memoryDatabase.ts';

/** Rows that are kept; one more drops the oldest. */
const mostRows = 10_000;

/** Figures of calls in memory. */
export class MemoryStatistics implements CallStatisticsRecords {
  readonly #rows: MemoryDatabase['statistics'];
  readonly #totals: MemoryDatabase['totals'];

  constructor({ statistics, totals }: MemoryDatabase) {
    this.#rows = statistics;
    this.#totals = totals;
  }

  add(rows: readonly CallFiguresRow[]): void {
    for (const row of rows) {
      const key = JSON.stringify([row.minute, row.integration, row.tool]);
      const known = this.#rows.get(key);
      this.#rows.set(key, known === undefined ? row : { ...row, ...addFigures(known, row) });
      this.#addToTotal(row);
    }
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= mostRows) break;
      this.#rows.delete(key);
    }
  }

  async totals(): Promise<readonly CallTotals[]> {
    return [...this.#totals.values()];
  }

  #addToTotal(row: CallFiguresRow): void {
    const { integration, tool } = row;
    const key = JSON.stringify([integration, tool]);
    this.#totals.set(key, { integration, tool, ...addFigures(this.#totals.get(key) ?? noFigures, row) });
  }

  async read(since: number): Promise<readonly CallFiguresRow[]> {
    return [...this.#rows.values()].filter(({ minute }) => minute >= since);
  }
}
