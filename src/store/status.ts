import { checkNumber } from '../policy/options.ts';
import type { PersistedBreaker } from '../policy/persistedBreaker.ts';
import { type AlertView, readAlerts } from './alertView.ts';
import { selectBreakers } from './breakerState.ts';
import { isCountedFailure, isCrash, isTrouble, owner } from './counting.ts';
import type { Database, SqlRow } from './database.ts';
import { field } from './query.ts';
import type { DatabaseReader } from './reader.ts';

const shortMs = 10 * 60_000;
const longMs = 24 * 60 * 60_000;

/** What the records say about the last day. */
export interface StoreStatus {
  /** Every event that is kept. */
  readonly events: number;
  readonly integrations: readonly IntegrationStatus[];
  /** Open, or as good as: see {@link UnwatchedAlert}. */
  readonly alerts: Pick<AlertView, 'open' | 'unwatched'>;
  /** The sessions seen last, newest first, at most 100. */
  readonly sessions: readonly SessionStatus[];
}

/** What counts towards alerts, and the last that went wrong. */
export interface FailureFigures {
  /** Final failures of calls, and failures of hooks, within the last 10 min, of the kinds that count towards alerts. */
  readonly failures10m: number;
  /** The same within the last 24 h. */
  readonly failures24h: number;
  /** Losses of what is behind the integration, and failed restarts, within the last 10 min. */
  readonly crashes10m: number;
  /** The same within the last 24 h. */
  readonly crashes24h: number;
  /** Of any kind, also of one that does not count. */
  readonly lastError?: { readonly at: number; readonly kind: string | undefined; readonly error: string } | undefined;
}

/** What one process has recorded. */
interface RuntimeFailures extends FailureFigures {
  readonly pid: number | undefined;
}

export interface IntegrationStatus extends FailureFigures {
  readonly integration: string;
  /** The same figures by the process that recorded them, as far as that is known. */
  readonly runtimes: readonly RuntimeFailures[];
  /** As it was last kept; of one that was never kept, closed. */
  readonly circuit: PersistedBreaker['state'];
  readonly breaker?: PersistedBreaker | undefined;
}

export interface SessionStatus {
  readonly session: string;
  /** Wall time in ms since the epoch. */
  readonly lastSeenAt: number;
}

/**
 * What a database says as of `now`, wall time in ms since the epoch.
 * @throws TypeError or RangeError for a wrong `now`, or what SQLite reports.
 */
export function readStatus(reader: DatabaseReader, now: number): StoreStatus {
  const { database, eventTable } = reader;
  checkNumber('now', now);
  const { open, unwatched } = readAlerts(reader, now);
  return {
    alerts: { open, unwatched },
    events: Number(database.prepare(`SELECT count(*) AS count FROM ${eventTable}`).get()?.['count']),
    integrations: selectIntegrations(database, eventTable, now),
    sessions: database
      .prepare(
        `SELECT coalesce(${field('session')}, ${field('session_key')}) AS session, max(timestamp) AS at FROM ${eventTable}
         WHERE timestamp >= ? GROUP BY 1 HAVING session IS NOT NULL ORDER BY at DESC LIMIT 100`,
      )
      .all(now - longMs)
      .map((row) => ({ session: String(row['session']), lastSeenAt: Number(row['at']) })),
  };
}

function selectIntegrations(database: Database, table: string, now: number): IntegrationStatus[] {
  const breakers = selectKeptBreakers(database);
  const found = new Map<string, RuntimeFailures[]>([...breakers.keys()].map((name) => [name, []]));
  for (const row of selectFailures(database, table, now)) {
    const name = String(row['integration']);
    const rows = found.get(name) ?? [];
    found.set(name, rows);
    rows.push(toFailures(row));
  }
  return [...found]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([integration, rows]) => {
      const breaker = breakers.get(integration);
      const runtimes = rows.filter(({ pid }) => pid !== undefined);
      return { integration, ...sumOf(rows), circuit: breaker?.state ?? 'closed', breaker, runtimes };
    });
}

/** By integration and by process. */
function selectFailures(database: Database, table: string, now: number): readonly SqlRow[] {
  // With a bare column beside max(), SQLite gives that of the row with the maximum.
  return database
    .prepare(
      `SELECT ${owner} AS integration, ${field('runtime_pid')} AS pid,
         coalesce(sum(${isCountedFailure} AND timestamp > ?), 0) AS failures10m, coalesce(sum(${isCountedFailure}), 0) AS failures24h,
         coalesce(sum(${isCrash} AND timestamp > ?), 0) AS crashes10m, coalesce(sum(${isCrash}), 0) AS crashes24h,
         max(timestamp) AS at, CASE WHEN ${isCrash} THEN 'crash' ELSE ${field('kind')} END AS kind,
         coalesce(${field('error')}, ${field('message')}) AS error
       FROM ${table} WHERE timestamp > ? AND ${isTrouble} GROUP BY 1, 2 HAVING integration IS NOT NULL ORDER BY 1, at`,
    )
    .all(now - shortMs, now - shortMs, now - longMs);
}

function toFailures(row: SqlRow): RuntimeFailures {
  return {
    pid: typeof row['pid'] === 'number' ? row['pid'] : undefined,
    failures10m: Number(row['failures10m']),
    failures24h: Number(row['failures24h']),
    crashes10m: Number(row['crashes10m']),
    crashes24h: Number(row['crashes24h']),
    lastError: {
      at: Number(row['at']),
      kind: typeof row['kind'] === 'string' ? row['kind'] : undefined,
      error: String(row['error']),
    },
  };
}

/** @param rows - by the time of their last error. */
function sumOf(rows: readonly RuntimeFailures[]): FailureFigures {
  const total = (figure: Exclude<keyof FailureFigures, 'lastError'>): number =>
    rows.reduce((sum, row) => sum + row[figure], 0);
  return {
    failures10m: total('failures10m'),
    failures24h: total('failures24h'),
    crashes10m: total('crashes10m'),
    crashes24h: total('crashes24h'),
    ...(rows.length > 0 && { lastError: rows.at(-1)?.lastError }),
  };
}

// A database that OpenClaw alone has written has no table for them.
function selectKeptBreakers(database: Database): ReadonlyMap<string, PersistedBreaker> {
  const table = database
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unwedge_breakers'`)
    .get();
  return table === undefined ? new Map() : selectBreakers(database);
}
