import { defaultAlertRule } from '../../policy/alerts.ts';
import { alertViewOf, unwatchedIn } from '../alertRows.ts';
import type { AlertView, UnwatchedAlert } from '../storeReader.ts';
import { isCountedFailure, isCrash, metKind, owner, metWords } from './counting.ts';
import type { Database } from './database.ts';
import { hasTable } from './schema.ts';

/** As of `now`, wall time in ms since the epoch. @throws what SQLite reports. */
export function readAlerts(database: Database, eventTable: string, now: number): AlertView {
  const rows = hasTable(database, 'unwedge_alerts')
    ? database
        .prepare('SELECT * FROM unwedge_alerts ORDER BY cleared_at IS NOT NULL, cleared_at DESC, raised_at LIMIT 1000')
        .all()
    : [];
  return alertViewOf(rows, selectFailing(database, eventTable, now), now);
}

function selectFailing(database: Database, table: string, now: number): readonly UnwatchedAlert[] {
  const { failures, crashes, windowMs } = defaultAlertRule;
  // With a bare column beside max(), SQLite gives that of the row with the maximum.
  return database
    .prepare(
      `SELECT ${owner} AS name, coalesce(sum(${isCountedFailure}), 0) AS failures, coalesce(sum(${isCrash}), 0) AS crashes,
         max(timestamp) AS at, CASE WHEN ${isCrash} THEN 'crash' ELSE ${metKind} END AS kind,
         ${metWords} AS error
       FROM ${table} WHERE timestamp > ? AND (${isCountedFailure} OR ${isCrash}) GROUP BY name
       HAVING name IS NOT NULL
         AND (coalesce(sum(${isCountedFailure}), 0) >= ? OR coalesce(sum(${isCrash}), 0) >= ?)
       ORDER BY name`,
    )
    .all(now - windowMs, failures, crashes)
    .map((row) => {
      const kind = typeof row['kind'] === 'string' ? row['kind'] : undefined;
      return unwatchedIn(row, { kind, error: String(row['error']) });
    });
}
