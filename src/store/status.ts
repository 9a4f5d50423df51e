import { checkNumber } from '../policy/options.ts';
import type { PersistedBreaker } from '../policy/persistedBreaker.ts';
import { type AlertView, readAlerts } from './alertView.ts';
import { selectBreakers } from './breakerState.ts';
import type { Database } from './database.ts';
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

export interface IntegrationStatus {
  readonly integration: string;
  /** Within the last 10 min: final failures of calls, failures of hooks, and losses of what is behind the integration. */
  readonly failures10m: number;
  /** The same within the last 24 h. */
  readonly failures24h: number;
  readonly lastError?: { readonly at: number; readonly kind: string | undefined; readonly error: string } | undefined;
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

/** Whose record it is: hooks have circuits under this name. */
const owner = `CASE category WHEN 'hook' THEN 'hook:' || ${field('hook_name')} ELSE ${field('integration')} END`;
/** What counts as a failure. A hook of a gateway has two records of the same: one of its call, and one of its own. */
const wentWrong = `(category = 'hook' AND event_type = 'error' OR category = 'integration' AND
  (event_type = 'crashed' OR event_type = 'failure' AND coalesce(${field('integration')}, '') NOT LIKE 'hook:%'))`;

function selectIntegrations(database: Database, table: string, now: number): IntegrationStatus[] {
  const breakers = selectKeptBreakers(database);
  // With a bare column beside max(), SQLite gives that of the row with the maximum.
  const failing = database
    .prepare(
      `SELECT ${owner} AS integration, count(*) AS day, sum(timestamp >= ?) AS minutes, max(timestamp) AS at,
         CASE event_type WHEN 'crashed' THEN 'crash' ELSE ${field('kind')} END AS kind,
         coalesce(${field('error')}, ${field('message')}) AS error
       FROM ${table} WHERE timestamp >= ? AND ${wentWrong} GROUP BY 1 HAVING integration IS NOT NULL ORDER BY 1`,
    )
    .all(now - shortMs, now - longMs);
  const statuses = new Map<string, IntegrationStatus>();
  for (const [integration, breaker] of breakers) {
    statuses.set(integration, { integration, failures10m: 0, failures24h: 0, circuit: breaker.state, breaker });
  }
  for (const row of failing) {
    const integration = String(row['integration']);
    statuses.set(integration, {
      integration,
      failures10m: Number(row['minutes']),
      failures24h: Number(row['day']),
      lastError: {
        at: Number(row['at']),
        kind: typeof row['kind'] === 'string' ? row['kind'] : undefined,
        error: String(row['error']),
      },
      circuit: breakers.get(integration)?.state ?? 'closed',
      breaker: breakers.get(integration),
    });
  }
  return [...statuses.values()].sort((one, other) => (one.integration < other.integration ? -1 : 1));
}

// A database that OpenClaw alone has written has no table for them.
function selectKeptBreakers(database: Database): ReadonlyMap<string, PersistedBreaker> {
  const table = database
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unwedge_breakers'`)
    .get();
  return table === undefined ? new Map() : selectBreakers(database);
}
