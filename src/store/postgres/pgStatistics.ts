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

/** Figures of calls in the database. */
export class PgStatistics implements CallStatisticsRecords {
  readonly #database: PgDatabase;

  constructor(database: PgDatabase) {
    this.#database = database;
  }

  add(rows: readonly CallFiguresRow[]): void {
    if (rows.length === 0) return;
    this.#database.write({
      async run(batch) {
        await Promise.all(rows.flatMap((row) => [addTo(batch, row), addTo(batch, { ...row, minute: total })]));
      },
    });
  }

  async read(since: number): Promise<readonly CallFiguresRow[]> {
    const text = `SELECT minute, integration, tool, figures FROM uw.statistic
      WHERE minute >= $1 AND minute <> ${total} ORDER BY minute, integration, tool`;
    const rows = (await this.#database.read({ name: 'statistics', text }, [Math.round(since)])) ?? [];
    return rows.map((row) => ({ ...totalsIn(row), minute: Number(row['minute']) }));
  }

  async totals(): Promise<readonly CallTotals[]> {
    const text = `SELECT integration, tool, figures FROM uw.statistic WHERE minute = ${total} ORDER BY integration, tool`;
    return ((await this.#database.read({ name: 'totals', text })) ?? []).map(totalsIn);
  }
}

async function addTo(batch: BatchRows, { integration, tool = '', minute, ...figures }: CallFiguresRow): Promise<void> {
  const place = [minute, integration, tool] as const;
  const name = `statistic ${JSON.stringify(place)}`;
  const [, [row]] = await Promise.all([batch.row(enter, name, place), batch.row(lock, name, place)]);
  const known = row?.['figures'];
  const sum = known === null || known === undefined ? figures : addFigures(figuresIn(known), figures);
  await batch.row(keep, name, [...place, JSON.stringify(sum)]);
}

function totalsIn(row: PgRow): CallTotals {
  const tool = String(row['tool']);
  return {
    integration: String(row['integration']),
    tool: tool === '' ? undefined : tool,
    ...figuresIn(row['figures']),
  };
}
