import { addFigures, type CallFiguresRow } from '../../policy/callFigures.ts';
import type { CallStatisticsRecords } from '../statistics.ts';
import type { MemoryDatabase } from './memoryDatabase.ts';

/** Rows that are kept; one more drops the oldest. */
const mostRows = 10_000;

/** Figures of calls in memory. */
export class MemoryStatistics implements CallStatisticsRecords {
  readonly #rows: MemoryDatabase['statistics'];

  constructor({ statistics }: MemoryDatabase) {
    this.#rows = statistics;
  }

  add(rows: readonly CallFiguresRow[]): void {
    for (const row of rows) {
      const key = JSON.stringify([row.minute, row.integration, row.tool]);
      const known = this.#rows.get(key);
      this.#rows.set(key, known === undefined ? row : { ...row, ...addFigures(known, row) });
    }
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= mostRows) break;
      this.#rows.delete(key);
    }
  }

  async read(since: number): Promise<readonly CallFiguresRow[]> {
    return [...this.#rows.values()].filter(({ minute }) => minute >= since);
  }
}
