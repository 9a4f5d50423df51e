import { checkNumber } from '../../src/policy/options/face.ts';
import type { PersistedBreaker } from '../../src/policy/records/face.ts';
import type { Row } from '../../src/store/face.ts';
import { alertViewOf, failuresIn, integrationsIn, longMs, sessionsIn, shortMs, unwatchedIn } from '../statusRows.ts';
import type { AlertView, FailureFigures, IntegrationStatus, StoreStatus, UnwatchedAlert } from '../storeReader.ts';
import { isByRule, isCountedFailure, isCrash, isTrouble, metKind, metWords, owner } from './counting.ts';
import { type Database, type SqlRow, field, hasTable, selectBreakers } from '../../src/store/sqlite/face.ts';
import { defaultAlertRule } from '../../src/policy/face.ts';

/**
 * Tells what a database says as of `now`, wall time in ms since the epoch.
 * @throws TypeError or RangeError for a wrong `now`, or what SQLite reports.
 */
export function readStatus(database: Database, eventTable: string, now: number): StoreStatus {
  checkNumber('now', now);
  const { open, unwatched } = readAlerts(database, eventTable, now);
  return {
    alerts: { open, unwatched },
    events: Number(database.prepare(`SELECT count(*) AS count FROM ${eventTable}`).get()?.['count']),
    integrations: selectIntegrations(database, eventTable, now),
    ...selectSessions(database, eventTable, now),
  };
}

function selectIntegrations(database: Database, table: string, now: number): IntegrationStatus[] {
  const rows = selectFailures(database, table, now).map((row) => failuresIn(row, toLastError(row)));
  return integrationsIn(selectKeptBreakers(database), rows);
}

function selectSessions(
  database: Database,
  table: string,
  now: number,
): Pick<StoreStatus, 'sessions' | 'moreSessions'> {
  // With a bare column beside max(), SQLite gives that of the row with the maximum.
  const failed = (what: string): readonly SqlRow[] =>
    database
      .prepare(
        `SELECT ${field('session')} AS session, count(*) AS failures, max(timestamp) AS at, ${field('kind')} AS kind, ${field('error')} AS error
         FROM ${table} WHERE timestamp >= ? AND category = 'session' AND ${what} GROUP BY 1`,
      )
      .all(now - longMs);
  // A turn that an operator ended has been seen by one.
  const turns = failed(`event_type = 'turn_failed' AND coalesce(${field('reason')}, '') <> 'by_operator'`);
  const calls = failed(
    `event_type = 'tool_failed' AND coalesce(${field('kind')}, '') <> 'cancelled' AND NOT ${isByRule}`,
  );
  const rows = database
    .prepare(
      `SELECT coalesce(${field('session')}, ${field('session_key')}) AS session, max(timestamp) AS at, count(*) OVER () AS seen FROM ${table}
       WHERE timestamp >= ? GROUP BY 1 HAVING session IS NOT NULL ORDER BY at DESC LIMIT 100`,
    )
    .all(now - longMs);
  return sessionsIn(rows, turns, calls, toLastError);
}

function toLastError(row: Row): NonNullable<FailureFigures['lastError']> {
  const { at, kind, error } = row;
  return { at: Number(at), kind: typeof kind === 'string' ? kind : undefined, error: String(error) };
}

/** By integration and by process. */
function selectFailures(database: Database, table: string, now: number): readonly SqlRow[] {
  // With a bare column beside max(), SQLite gives that of the row with the maximum.
  return database
    .prepare(
      `SELECT ${owner} AS integration, ${field('runtime_pid')} AS pid,
         coalesce(sum(${isCountedFailure} AND timestamp > ?), 0) AS failures10m, coalesce(sum(${isCountedFailure}), 0) AS failures24h,
         coalesce(sum(${isCrash} AND timestamp > ?), 0) AS crashes10m, coalesce(sum(${isCrash}), 0) AS crashes24h,
         max(timestamp) AS at, CASE WHEN ${isCrash} THEN 'crash' ELSE ${metKind} END AS kind,
         ${metWords} AS error
       FROM ${table} WHERE timestamp > ? AND ${isTrouble} GROUP BY 1, 2 HAVING integration IS NOT NULL ORDER BY 1, at`,
    )
    .all(now - shortMs, now - shortMs, now - longMs);
}

function selectKeptBreakers(database: Database): ReadonlyMap<string, PersistedBreaker> {
  return hasTable(database, 'unwedge_breakers') ? selectBreakers(database) : new Map();
}

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
