import { addFigures, type CallFiguresRow, type CallTotals, noFigures } from '../../policy/callFigures.ts';
import { type CallStatisticsRecords, figuresIn } from '../statistics.ts';
import type { Database, SqlRow } from './database.ts';
import { hasTable } from './schema.ts';
import type { StoreFile } from './storeFile.ts';

/** Figures of calls in the file. */
export class SqliteStatistics implements CallStatisticsRecords {
  readonly #file: StoreFile;

  constructor(file: StoreFile) {
    this.#file = file;
  }

  add(rows: readonly CallFiguresRow[]): void {
    if (rows.length === 0) return;
    this.#file.write({
      run(database) {
        for (const row of rows) {
          addRow(database, row);
          addToTotal(database, row);
        }
      },
    });
  }

  async read(since: number): Promise<readonly CallFiguresRow[]> {
    return this.#file.ask((database) => selectStatistics(database, since), []);
  }

  async totals(): Promise<readonly CallTotals[]> {
    return this.#file.ask((database) => selectTotals(database), []);
  }
}

/** Reads none from a database of before, which has no such table. */
export function selectStatistics(database: Database, since: number, of: 'tools' | 'whole' = 'tools'): CallFiguresRow[] {
  if (!hasTable(database, 'unwedge_statistics')) return [];
  return database
    .prepare(
      `SELECT * FROM unwedge_statistics WHERE minute >= ? AND (tool = '' OR ?) ORDER BY minute, integration, tool`,
    )
    .all(Math.round(since), of === 'tools' ? 1 : 0)
    .map((row) => ({ ...ownerOf(row), minute: Number(row['minute']), ...figuresIn(row['figures']) }));
}

/** Reads none from a database of before. */
export function selectTotals(database: Database): CallTotals[] {
  if (!hasTable(database, 'unwedge_totals')) return [];
  return database
    .prepare('SELECT * FROM unwedge_totals ORDER BY integration, tool')
    .all()
    .map((row) => ({ ...ownerOf(row), ...figuresIn(row['figures']) }));
}

function addToTotal(database: Database, row: CallFiguresRow): void {
  const { integration, tool = '' } = row;
  const known = database
    .prepare('SELECT figures FROM unwedge_totals WHERE integration = ? AND tool = ?')
    .get(integration, tool)?.['figures'];
  const sum = addFigures(known === undefined ? noFigures : figuresIn(known), row);
  database
    .prepare(
      `INSERT INTO unwedge_totals (integration, tool, figures) VALUES (?, ?, ?)
       ON CONFLICT (integration, tool) DO UPDATE SET figures = excluded.figures`,
    )
    .run(integration, tool, JSON.stringify(sum));
}

/** Makes one read and one write, in the transaction of the commit: nobody comes between. */
function addRow(database: Database, { integration, tool = '', minute, ...figures }: CallFiguresRow): void {
  const known = database
    .prepare('SELECT figures FROM unwedge_statistics WHERE minute = ? AND integration = ? AND tool = ?')
    .get(minute, integration, tool)?.['figures'];
  const sum = known === undefined ? figures : addFigures(figuresIn(known), figures);
  database
    .prepare(
      `INSERT INTO unwedge_statistics (minute, integration, tool, figures) VALUES (?, ?, ?, ?)
       ON CONFLICT (minute, integration, tool) DO UPDATE SET figures = excluded.figures`,
    )
    .run(minute, integration, tool, JSON.stringify(sum));
}

function ownerOf(row: SqlRow): Pick<CallTotals, 'integration' | 'tool'> {
  const tool = String(row['tool']);
  return { integration: String(row['integration']), tool: tool === '' ? undefined : tool };
}
