import { addFigures, type CallFiguresRow, type CallTotals } from '../../policy/callFigures.ts';
import { type CallStatisticsRecords, figuresIn } from '../statistics.ts';
import type { BatchRows } from './batch.ts';
import { type RowStatement, rowsOf } from './rowStatement.ts';
import type { PgDatabase } from './pgDatabase.ts';
import type { PgRow } from './pgDriver.ts';

const rank = 3;
const key = 'minute bigint, integration text, tool text';

/** A row that is there can be locked. */
const enter: RowStatement = {
  name: 'enter_statistic',
  rank,
  text: `WITH ${rowsOf(key)}
    INSERT INTO uw.statistic (minute, integration, tool) SELECT minute, integration, tool FROM w ORDER BY 1, 2, 3
    ON CONFLICT DO NOTHING`,
};
const lock: RowStatement = {
  name: 'lock_statistic',
  rank,
  text: `WITH ${rowsOf(key)}
    SELECT w.ord, s.figures FROM w JOIN uw.statistic s USING (minute, integration, tool)
    ORDER BY minute, integration, tool FOR UPDATE OF s`,
};
const keep: RowStatement = {
  name: 'keep_statistic',
  rank,
  text: `WITH ${rowsOf(`${key}, figures text`)}
    UPDATE uw.statistic AS s SET figures = w.figures
    FROM w WHERE s.minute = w.minute AND s.integration = w.integration AND s.tool = w.tool`,
};

/** All minutes together stand under a minute that never was. */
export const total = -1;

/** SQL for the minutes since `$1`; those of single tools only where `$2` says so. */
export const selectStatistics = `SELECT minute, integration, tool, figures FROM uw.statistic
  WHERE minute >= $1 AND minute <> ${total} AND (tool = '' OR $2::boolean)
  ORDER BY minute, integration COLLATE "C", tool COLLATE "C"`;

export const selectTotals = `SELECT integration, tool, figures FROM uw.statistic WHERE minute = ${total}
  ORDER BY integration COLLATE "C", tool COLLATE "C"`;

/** Figures of calls in the database. */
export class PgStatistics implements CallStatisticsRecords {
  readonly #database: PgDatabase;
  /** Figures that no write has taken yet. */
  readonly #waiting: CallFiguresRow[] = [];
  #isQueued = false;

  constructor(database: PgDatabase) {
    this.#database = database;
  }

  add(rows: readonly CallFiguresRow[]): void {
    if (rows.length === 0) return;
    this.#waiting.push(...rows);
    // A single write takes all that waits: two of one batch would each add to the figures that both have read.
    if (this.#isQueued) return;
    this.#isQueued = true;
    let taken: readonly CallFiguresRow[] = [];
    this.#database.write({
      run: async (batch) => {
        this.#isQueued = false;
        taken = [...taken, ...this.#waiting.splice(0)];
        await Promise.all(summed(taken).map((row) => addTo(batch, row)));
      },
    });
  }

  async read(since: number): Promise<readonly CallFiguresRow[]> {
    const values = [Math.round(since), true];
    return ((await this.#database.read({ name: 'statistics', text: selectStatistics }, values)) ?? []).map(statisticIn);
  }

  async totals(): Promise<readonly CallTotals[]> {
    return ((await this.#database.read({ name: 'totals', text: selectTotals })) ?? []).map(totalsIn);
  }
}

/** Makes one row for each minute, integration and tool, those of all minutes together included. */
function summed(rows: readonly CallFiguresRow[]): readonly CallFiguresRow[] {
  const sums = new Map<string, CallFiguresRow>();
  for (const row of rows.flatMap((each) => [each, { ...each, minute: total }])) {
    const { minute, integration, tool, ...figures } = row;
    const place = JSON.stringify([minute, integration, tool]);
    const known = sums.get(place);
    sums.set(place, known === undefined ? row : { minute, integration, tool, ...addFigures(known, figures) });
  }
  return [...sums.values()];
}

async function addTo(batch: BatchRows, { integration, tool = '', minute, ...figures }: CallFiguresRow): Promise<void> {
  const place = [minute, integration, tool] as const;
  const name = `statistic ${JSON.stringify(place)}`;
  const [, [row]] = await Promise.all([batch.row(enter, name, place), batch.row(lock, name, place)]);
  const known = row?.['figures'];
  const sum = known === null || known === undefined ? figures : addFigures(figuresIn(known), figures);
  await batch.row(keep, name, [...place, JSON.stringify(sum)]);
}

/** The figures in a row of a minute. */
export function statisticIn(row: PgRow): CallFiguresRow {
  return { ...totalsIn(row), minute: Number(row['minute']) };
}

/** The same of all minutes. */
export function totalsIn(row: PgRow): CallTotals {
  const tool = String(row['tool']);
  return {
    integration: String(row['integration']),
    tool: tool === '' ? undefined : tool,
    ...figuresIn(row['figures']),
  };
}
