import { isDeadLetter } from '../../src/store/deadLetterRows.ts';
import { sessionRecordsIn } from '../../src/store/recordRows.ts';
import type { SessionOwner, SessionRecords } from '../../src/store/storeReader.ts';
import type { PgRow } from '../pgDriver.ts';
import type { Ask } from './pgReads.ts';

/** Most rows that are told of each kind. */
const mostRows = 100;

/** Finds whose a session is, and since when, by the clock of the database. */
const leaseOf = `
  SELECT l.token, (extract(epoch FROM clock_timestamp() - l.taken_at) * 1000)::float8 AS has, n.name, n.host, n.pid,
    (extract(epoch FROM n.expires_at - clock_timestamp()) * 1000)::float8 AS lease_left
  FROM uw.lease l LEFT JOIN uw.node n ON n.id = l.owner AND n.expires_at > clock_timestamp() WHERE l.key = $1`;

/** Ids of the sessions that are kept, at most 1000: each has a lease, whoever holds it. @throws what the server says. */
export async function readPgSessionIds(ask: Ask): Promise<readonly string[]> {
  return (await ask('SELECT key FROM uw.lease ORDER BY key COLLATE "C" LIMIT 1000')).map((row) => String(row['key']));
}

/** Ids of those of which messages wait or calls are pending, at most 1000. @throws what the server says. */
export async function readPgWaitingSessions(ask: Ask): Promise<readonly string[]> {
  const rows = await ask(
    `SELECT id FROM (
       SELECT session AS id FROM uw.message WHERE state IN ('waiting', 'taken')
       UNION SELECT session FROM uw.mail WHERE state = 'waiting'
       UNION SELECT session FROM uw.call WHERE state = 'pending') w ORDER BY id COLLATE "C" LIMIT 1000`,
  );
  return rows.map((row) => String(row['id']));
}

/** Undefined for a session that was never kept here. @throws what the server says. */
export async function readPgSessionRecords(ask: Ask, session: string): Promise<SessionRecords | undefined> {
  const [[lease], messages, mail, calls, deadLetters] = await Promise.all([
    ask(leaseOf, [session]),
    ask(
      `SELECT number, mail, body, state, deliveries, posted_at FROM uw.message
       WHERE session = $1 AND state IN ('waiting', 'taken') ORDER BY number LIMIT ${mostRows}`,
      [session],
    ),
    ask(
      `SELECT id AS mail, body, state, 0 AS deliveries, posted_at FROM uw.mail
       WHERE session = $1 AND state = 'waiting' ORDER BY id LIMIT ${mostRows}`,
      [session],
    ),
    ask(
      `SELECT id, integration, tool, started_at, deadline_at, rule FROM uw.call
       WHERE session = $1 AND state = 'pending' ORDER BY seq LIMIT ${mostRows}`,
      [session],
    ),
    ask(
      `SELECT number, mail, state FROM uw.message WHERE session = $1 AND ${isDeadLetter} ORDER BY number DESC LIMIT ${mostRows}`,
      [session],
    ),
  ]);
  if (lease === undefined && mail.length === 0) return undefined;
  const records = sessionRecordsIn(session, { messages: [...messages, ...mail], calls, deadLetters });
  const owner = lease && ownerIn(lease);
  return owner === undefined ? records : { ...records, owner };
}

/** Undefined where no live node has the session. */
function ownerIn({ name, host, pid, token, has, lease_left: left }: PgRow): SessionOwner | undefined {
  if (typeof host !== 'string') return undefined;
  return {
    ...{ name: String(name), host, pid: Number(pid), fence: Number(token) },
    ...{ sinceMs: Math.max(0, Math.round(Number(has))), leaseLeftMs: Math.round(Number(left)) },
  };
}
