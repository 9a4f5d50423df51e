import { defaultAlertRule } from '../../src/policy/alerts.ts';
import { alertViewOf, unwatchedIn } from '../../src/store/alertRows.ts';
import { lastErrorIn } from '../../src/store/counting.ts';
import { parseMetadata } from '../../src/store/events.ts';
import type { AlertView } from '../../src/store/storeReader.ts';
import type { Ask } from './pgReads.ts';

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
