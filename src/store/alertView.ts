import type { AlertEnd, OpenAlert } from '../policy/alertRecord.ts';
import { defaultAlertRule } from '../policy/alerts.ts';
import { failureKinds } from '../policy/failure.ts';
import { toAlert } from './alerts.ts';
import type { Database } from './database.ts';
import { field } from './query.ts';
import type { DatabaseReader } from './reader.ts';

/** An alert that is over. Times are wall time in ms since the epoch. */
export interface ClearedAlert extends OpenAlert {
  readonly clearedAt: number;
  readonly clearedBy: AlertEnd;
}

/**
 * Failures on record that would have raised an alert by the default thresholds, had a gateway watched: those of short-lived runs and
 * hooks.
 */
export interface UnwatchedAlert {
  readonly integration: string;
  /** Final failures within the last 10 min. */
  readonly failures: number;
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

const counting = Object.entries(failureKinds)
  .filter(([, { alerts }]) => alerts)
  .map(([kind]) => kind);

/** Hooks outside of a gateway leave no other record of their failures than their own, which has no kind. */
function selectFailing(database: Database, table: string, now: number): readonly UnwatchedAlert[] {
  const { failures, windowMs } = defaultAlertRule;
  return database
    .prepare(
      `SELECT CASE category WHEN 'hook' THEN 'hook:' || ${field('hook_name')} ELSE ${field('integration')} END AS name,
         count(*) AS failures, max(timestamp) AS at, ${field('kind')} AS kind, ${field('error')} AS error
       FROM ${table} WHERE timestamp > ?
         AND (category = 'integration' AND event_type = 'failure' AND ${field('kind')} IN (${counting.map(() => '?').join(', ')})
           OR category = 'hook' AND event_type = 'error')
       GROUP BY name, category HAVING name IS NOT NULL AND count(*) >= ? ORDER BY name, at`,
    )
    .all(now - windowMs, ...counting, failures)
    .map((row) => ({
      integration: String(row['name']),
      failures: Number(row['failures']),
      lastFailureAt: Number(row['at']),
      kind: typeof row['kind'] === 'string' ? row['kind'] : undefined,
      message: String(row['error']),
    }))
    .filter(({ integration }, index, all) => all.findIndex((each) => each.integration === integration) === index);
}

function hasAlerts(database: Database): boolean {
  const table = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unwedge_alerts'`;
  return database.prepare(table).get() !== undefined;
}
