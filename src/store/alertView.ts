import type { AlertCause, AlertEnd, OpenAlert } from '../policy/alertRecord.ts';
import { defaultAlertRule, deliveryNames } from '../policy/alerts.ts';
import { toAlert } from './alerts.ts';
import { isCountedFailure, isCrash, owner } from './counting.ts';
import type { Database } from './database.ts';
import { field } from './query.ts';
import type { DatabaseReader } from './reader.ts';

/** An alert that is over. Times are wall time in ms since the epoch. */
export interface ClearedAlert extends OpenAlert {
  readonly clearedAt: number;
  readonly clearedBy: AlertEnd;
}

/**
 * Failures and crashes on record that would have raised an alert by the default thresholds, had a gateway watched: those of short-lived runs and
 * hooks.
 */
export interface UnwatchedAlert {
  readonly integration: string;
  readonly because: AlertCause;
  /** Final failures within the last 10 min. */
  readonly failures: number;
  /** Crashes within the last 10 min. */
  readonly crashes: number;
  /** Of the last failure or crash. */
  readonly lastFailureAt: number;
  readonly kind: string | undefined;
  readonly message: string;
}

/** What a database says of alerts. */
export interface AlertView {
  /** The oldest first. */
  readonly open: readonly OpenAlert[];
  readonly unwatched: readonly UnwatchedAlert[];
  /** The last ones that were cleared, newest first, at most 50. */
  readonly cleared: readonly ClearedAlert[];
}

/** As of `now`, wall time in ms since the epoch. @throws what SQLite reports. */
export function readAlerts({ database, eventTable }: DatabaseReader, now: number): AlertView {
  const rows = hasAlerts(database)
    ? database
        .prepare('SELECT * FROM unwedge_alerts ORDER BY cleared_at IS NOT NULL, cleared_at DESC, raised_at LIMIT 1000')
        .all()
    : [];
  const open = rows.filter((row) => row['cleared_at'] === null).map(toAlert);
  const cleared = rows
    .filter((row) => row['cleared_at'] !== null)
    .slice(0, 50)
    .map((row) => ({
      ...toAlert(row),
      clearedAt: Number(row['cleared_at']),
      clearedBy: row['cleared_by'] === 'quiet' ? ('quiet' as const) : ('closed' as const),
    }));
  const known = new Set([...open, ...cleared.filter(isRecent(now))].map(({ integration }) => integration));
  const unwatched = selectFailing(database, eventTable, now).filter(({ integration }) => !known.has(integration));
  return { open, unwatched, cleared };
}

/** The failures of the window were told of already. */
function isRecent(now: number) {
  return ({ clearedAt }: ClearedAlert): boolean => now - clearedAt < defaultAlertRule.windowMs;
}

/** Deliveries of alerts raise none. */
const deliveries = Object.values(deliveryNames)
  .map((name) => `'${name}'`)
  .join(', ');

function selectFailing(database: Database, table: string, now: number): readonly UnwatchedAlert[] {
  const { failures, crashes, windowMs } = defaultAlertRule;
  // With a bare column beside max(), SQLite gives that of the row with the maximum.
  return database
    .prepare(
      `SELECT ${owner} AS name, coalesce(sum(${isCountedFailure}), 0) AS failures, coalesce(sum(${isCrash}), 0) AS crashes,
         max(timestamp) AS at, CASE WHEN ${isCrash} THEN 'crash' ELSE ${field('kind')} END AS kind,
         coalesce(${field('error')}, ${field('message')}) AS error
       FROM ${table} WHERE timestamp > ? AND (${isCountedFailure} OR ${isCrash}) GROUP BY name
       HAVING name IS NOT NULL AND name NOT IN (${deliveries})
         AND (coalesce(sum(${isCountedFailure}), 0) >= ? OR coalesce(sum(${isCrash}), 0) >= ?)
       ORDER BY name`,
    )
    .all(now - windowMs, failures, crashes)
    .map((row) => ({
      integration: String(row['name']),
      because: Number(row['failures']) >= failures ? ('failures' as const) : ('crashes' as const),
      failures: Number(row['failures']),
      crashes: Number(row['crashes']),
      lastFailureAt: Number(row['at']),
      kind: typeof row['kind'] === 'string' ? row['kind'] : undefined,
      message: String(row['error']),
    }));
}

function hasAlerts(database: Database): boolean {
  const table = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unwedge_alerts'`;
  return database.prepare(table).get() !== undefined;
}
