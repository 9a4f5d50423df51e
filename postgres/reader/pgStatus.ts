import { checkNumber } from '../../src/policy/options/face.ts';
import type { PersistedBreaker } from '../../src/policy/records/face.ts';
import { type Row, breakerIn, parseMetadata } from '../../src/store/face.ts';
import { ruleReasons } from '../../src/policy/failures/face.ts';
import { lastErrorIn } from '../countedTrouble.ts';
import {
  alertViewOf,
  failuresIn,
  integrationsIn,
  longMs,
  sessionsIn,
  shortMs,
  unwatchedIn,
} from '../../reader/statusRows.ts';
import type { AlertView, FailureFigures, StoreStatus } from '../../reader/storeReader.ts';
import type { Ask } from './pgReads.ts';
import { defaultAlertRule } from '../../src/policy/face.ts';

/** Above so many events their number is the estimate of the server: to count them takes time. */
const mostCounted = 500_000;
/** The newest events that are looked at for who was seen: those of a day may be very many. */
const mostSeen = 100_000;

const countEvents = `
  SELECT CASE WHEN estimate > ${mostCounted} THEN estimate ELSE (SELECT count(*) FROM uw.event) END AS events
  FROM (SELECT pg_stat_get_live_tuples('uw.event'::regclass) AS estimate) e`;

const breakers = 'SELECT * FROM uw.breaker';

/** By integration and by process, those whose last error is the oldest first. */
const failures = `
  SELECT t.*, e.metadata, e.trouble FROM (
    SELECT trouble_of AS integration, pid,
      count(*) FILTER (WHERE trouble = 'failure' AND at > $2) AS failures10m,
      count(*) FILTER (WHERE trouble = 'failure') AS failures24h,
      count(*) FILTER (WHERE trouble = 'crash' AND at > $2) AS crashes10m,
      count(*) FILTER (WHERE trouble = 'crash') AS crashes24h,
      max(at) AS at
    FROM uw.event WHERE trouble IN ('failure', 'crash', 'other') AND at > $1 GROUP BY 1, 2) t
  CROSS JOIN LATERAL (
    SELECT metadata, trouble FROM uw.event o
    WHERE o.trouble IN ('failure', 'crash', 'other') AND o.at = t.at AND o.trouble_of = t.integration
      AND o.pid IS NOT DISTINCT FROM t.pid
    ORDER BY id DESC LIMIT 1) e
  ORDER BY t.integration, t.at`;

const seen = `
  SELECT sessions[1] AS session, max(at) AS at, count(*) OVER () AS seen FROM uw.event
  WHERE id > (SELECT max(id) FROM uw.event) - ${mostSeen} AND at >= $1 AND sessions[1] IS NOT NULL
  GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100`;

const failedTurns = `
  SELECT t.*, e.metadata FROM (
    SELECT trouble_of AS session, count(*) AS failures, max(at) AS at
    FROM uw.event WHERE trouble = 'turn' AND at >= $1 AND trouble_of = ANY ($2::text[]) GROUP BY 1) t
  CROSS JOIN LATERAL (
    SELECT metadata FROM uw.event o WHERE o.trouble = 'turn' AND o.at = t.at AND o.trouble_of = t.session
    ORDER BY id DESC LIMIT 1) e`;

const failedCalls = `
  SELECT t.*, e.metadata FROM (
    SELECT sessions[1] AS session, count(*) AS failures, max(id) AS last, max(at) AS at FROM uw.event
    WHERE id > (SELECT max(id) FROM uw.event) - ${mostSeen} AND at >= $1 AND category = 'session' AND type = 'tool_failed' AND failed
      AND metadata !~ '"reason":"(${ruleReasons.join('|')})"'
      AND sessions[1] = ANY ($2::text[]) GROUP BY 1) t
  JOIN uw.event e ON e.id = t.last`;

/** Tells what a database says as of `now`, wall time in ms since the epoch. @throws TypeError or RangeError for a wrong `now`. */
export async function readPgStatus(ask: Ask, now: number): Promise<StoreStatus> {
  checkNumber('now', now);
  const since = Math.round(now - longMs);
  const [{ open, unwatched }, [counted], kept, failed, sessions] = await Promise.all([
    readPgAlerts(ask, now),
    ask(countEvents),
    ask(breakers),
    ask(failures, [since, Math.round(now - shortMs)]),
    readSessions(ask, since),
  ]);
  return {
    alerts: { open, unwatched },
    events: Number(counted?.['events'] ?? 0),
    integrations: integrationsIn(
      new Map(kept.map((row): [string, PersistedBreaker] => [String(row['name']), breakerIn(row)])),
      failed.map((row) => failuresIn(row, toLastError(row))),
    ),
    ...sessions,
  };
}

async function readSessions(ask: Ask, since: number): Promise<Pick<StoreStatus, 'sessions' | 'moreSessions'>> {
  const rows = await ask(seen, [since]);
  const turns = await ask(failedTurns, [since, rows.map((row) => String(row['session']))]);
  const calls = await ask(failedCalls, [since, rows.map((row) => String(row['session']))]);
  return sessionsIn(rows, turns, calls, toLastError);
}

function toLastError(row: Row): NonNullable<FailureFigures['lastError']> {
  return { at: Number(row['at']), ...lastErrorIn(row['trouble'], parseMetadata(row['metadata'])) };
}

const alerts = 'SELECT * FROM uw.alert ORDER BY cleared_at IS NOT NULL, cleared_at DESC, raised_at LIMIT 1000';

const failing = `
  SELECT t.*, e.metadata, e.trouble FROM (
    SELECT trouble_of AS name, count(*) FILTER (WHERE trouble = 'failure') AS failures,
      count(*) FILTER (WHERE trouble = 'crash') AS crashes, max(at) AS at
    FROM uw.event WHERE trouble IN ('failure', 'crash') AND at > $1 GROUP BY 1
    HAVING count(*) FILTER (WHERE trouble = 'failure') >= $2 OR count(*) FILTER (WHERE trouble = 'crash') >= $3) t
  CROSS JOIN LATERAL (
    SELECT metadata, trouble FROM uw.event o
    WHERE o.trouble IN ('failure', 'crash') AND o.at = t.at AND o.trouble_of = t.name ORDER BY id DESC LIMIT 1) e
  ORDER BY t.name`;

/** As of `now`, wall time in ms since the epoch. @throws what the server says. */
export async function readPgAlerts(ask: Ask, now: number): Promise<AlertView> {
  const { failures, crashes, windowMs } = defaultAlertRule;
  const [rows, failed] = await Promise.all([
    ask(alerts),
    ask(failing, [Math.round(now - windowMs), failures, crashes]),
  ]);
  const unwatched = failed.map((row) => unwatchedIn(row, lastErrorIn(row['trouble'], parseMetadata(row['metadata']))));
  return alertViewOf(rows, unwatched, now);
}
