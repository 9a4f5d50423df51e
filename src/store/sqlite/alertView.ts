import type { AlertEnd } from '../../policy/alertCause.ts';
import { defaultAlertRule, deliveryNames } from '../../policy/alerts.ts';
import type { AlertView, ClearedAlert, UnwatchedAlert } from '../storeReader.ts';
import { isCountedFailure, isCrash, owner } from './counting.ts';
import type { Database } from './database.ts';
import { field } from './eventRows.ts';
import { hasTable } from './schema.ts';
import { alertIn } from '../alertRows.ts';

/** As of `now`, wall time in ms since the epoch. @throws what SQLite reports. */
export function readAlerts(database: Database, eventTable: string, now: number): AlertView {
  const rows = hasTable(database, 'unwedge_alerts')
    ? database
        .prepare('SELECT * FROM unwedge_alerts ORDER BY cleared_at IS NOT NULL, cleared_at DESC, raised_at LIMIT 1000')
        .all()
    : [];
  const open = rows.filter((row) => row['cleared_at'] === null).map(alertIn);
  const cleared = rows
    .filter((row) => row['cleared_at'] !== null)
    .slice(0, 50)
    .map((row) => ({
      ...alertIn(row),
      clearedAt: Number(row['cleared_at']),
      clearedBy: ends.find((end) => end === row['cleared_by']) ?? 'closed',
    }));
  const known = new Set([...open, ...cleared.filter(isRecent(now))].map(({ integration }) => integration));
  const unwatched = selectFailing(database, eventTable, now).filter(({ integration }) => !known.has(integration));
  return { open, unwatched, cleared };
}

const ends: readonly AlertEnd[] = ['quiet', 'closed', 'recovered'];

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
