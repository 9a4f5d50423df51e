import {
  addFigures,
  type CallFigures,
  type CallFiguresRow,
  type CallTotals,
  noFigures,
} from '../../policy/records/callFigures.ts';
import { insertInto, type Row, statement } from '../dialect.ts';
import { all, type Read, step, type Tables, type Work } from '../work.ts';

const order = { rank: 3 };
const key = 'minute bigint, integration text, tool text';
const byKey = 'minute, integration, tool';

/** All minutes together stand under a minute that never was. */
const total = -1;

/** A row that is there can be locked; a file is locked as it is. */
const enter = statement(
  'enter_statistic',
  key,
  `{INSERT INTO uw.statistic (${byKey}) SELECT ${byKey} FROM w ORDER BY ${byKey} ON CONFLICT DO NOTHING|}`,
  order,
);
export const lockStatistic = statement(
  'lock_statistic',
  key,
  `SELECT {w.ord, |}s.figures FROM {w, |}uw.statistic s
   WHERE s.minute = :minute AND s.integration = :integration AND s.tool = :tool
   {ORDER BY s.minute, s.integration, s.tool FOR UPDATE OF s|}`,
  order,
);
const figures = `${key}, figures text`;
export const keepStatistic = statement(
  'keep_statistic',
  figures,
  insertInto('uw.statistic', figures, `ON CONFLICT (${byKey}) DO UPDATE SET figures = excluded.figures`, byKey),
  order,
);
const byName = 'ORDER BY minute, integration {COLLATE "C"|}, tool {COLLATE "C"|}';
/** Leaves out figures of single tools unless they are asked for. */
const minutes = statement(
  'statistics',
  'since bigint, tools boolean',
  `SELECT ${byKey}, figures FROM uw.statistic
   WHERE minute >= :since AND minute <> ${total} AND (tool = '' OR :tools) ${byName}`,
);
const totals = statement('totals', '', `SELECT * FROM uw.statistic WHERE minute = ${total} ${byName}`);

/** Figures of calls in a store. */
export class Statistics implements CallStatisticsRecords {
  readonly #tables: Tables;
  /** Figures that no write has taken yet. */
  readonly #waiting = new Map<string, CallFiguresRow>();
  #isQueued = false;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  add(rows: readonly CallFiguresRow[]): void {
    if (rows.length === 0) return;
    const waiting = this.#waiting;
    for (const row of rows) for (const minute of [row.minute, total]) addUp(waiting, { ...row, minute });
    // A single write takes all that waits: two of one batch would each add to the figures that both have read.
    if (this.#isQueued) return;
    this.#isQueued = true;
    const taken = new Map<string, CallFiguresRow>();
    this.#tables.write(() => {
      this.#isQueued = false;
      for (const row of waiting.values()) addUp(taken, row);
      waiting.clear();
      return addAll([...taken.values()]);
    });
  }

  read(since: number): Promise<readonly CallFiguresRow[]> {
    return readStatistics(this.#tables.read, since);
  }

  totals(): Promise<readonly CallTotals[]> {
    return readTotals(this.#tables.read);
  }
}

/** Minutes since `since`, the oldest first. */
export async function readStatistics(read: Read, since: number, of = 'tools'): Promise<CallFiguresRow[]> {
  const rows = await read(minutes, { since, tools: of === 'tools' });
  return rows.map((row) => ({ ...totalIn(row), minute: Number(row['minute']) }));
}

/** All minutes together. */
export async function readTotals(read: Read): Promise<CallTotals[]> {
  return (await read(totals)).map(totalIn);
}

function totalIn(row: Row): CallTotals {
  const tool = String(row['tool']);
  return {
    integration: String(row['integration']),
    tool: tool === '' ? undefined : tool,
    ...figuresIn(row['figures']),
  };
}

/** Keeps one row for each minute, integration and tool. */
function addUp(sums: Map<string, CallFiguresRow>, row: CallFiguresRow): void {
  const { minute, integration, tool, ...more } = row;
  const place = JSON.stringify([minute, integration, tool]);
  const known = sums.get(place);
  sums.set(place, known === undefined ? row : { minute, integration, tool, ...addFigures(known, more) });
}

function* addAll(rows: readonly CallFiguresRow[]): Work<void> {
  yield* all(rows.map(addTo));
}

function* addTo({ integration, tool = '', minute, ...more }: CallFiguresRow): Work<void> {
  const place = { minute, integration, tool };
  const name = `statistic ${JSON.stringify(place)}`;
  yield step(enter, name, place);
  const [row] = yield step(lockStatistic, name, place);
  const known = row?.['figures'] ?? undefined;
  const sum = known === undefined ? more : addFigures(figuresIn(known), more);
  yield step(keepStatistic, name, { ...place, figures: JSON.stringify(sum) });
}

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
