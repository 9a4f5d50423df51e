import type { ClusterNode, ClusterSession, ClusterView } from '../../reader/storeReader.ts';
import type { PgRow } from '../pgDriver.ts';
import type { Ask } from './pgReads.ts';

/** Sessions with something to do that are told of. */
const mostWaiting = 100;

const ms = (interval: string): string => `(extract(epoch FROM ${interval}) * 1000)::float8`;

/** A node that has died is shown for a minute, and as long as others have not taken what waits for its sessions. */
const nodes = `
  SELECT n.id, n.name, n.host, n.pid, n.waiting, n.renew_ms, ${ms('clock_timestamp() - n.started_at')} AS up,
    ${ms('clock_timestamp() - n.seen_at')} AS silent, ${ms('n.expires_at - clock_timestamp()')} AS lease_left,
    (SELECT count(*) FROM uw.lease l WHERE l.owner = n.id) AS owned
  FROM uw.node n
  WHERE n.expires_at > clock_timestamp() - interval '1 minute' OR EXISTS (
    SELECT FROM uw.lease l WHERE l.owner = n.id AND (
      EXISTS (SELECT FROM uw.message m WHERE m.session = l.key AND m.state IN ('waiting', 'taken'))
      OR EXISTS (SELECT FROM uw.mail x WHERE x.session = l.key AND x.state = 'waiting')
      OR EXISTS (SELECT FROM uw.call c WHERE c.session = l.key AND c.state = 'pending')))
  ORDER BY n.started_at, n.id`;

const waiting = `
  SELECT o.session, l.owner, coalesce(l.token, 0) AS token, count(*) AS messages,
    extract(epoch FROM clock_timestamp()) * 1000 - min(o.posted_at) AS oldest
  FROM (
    SELECT session, posted_at FROM uw.message WHERE state IN ('waiting', 'taken')
    UNION ALL SELECT session, posted_at FROM uw.mail WHERE state = 'waiting') o
  LEFT JOIN uw.lease l ON l.key = o.session
  GROUP BY o.session, l.owner, l.token ORDER BY min(o.posted_at) LIMIT ${mostWaiting}`;

/** @throws what the server says. */
export async function readPgCluster(ask: Ask): Promise<ClusterView> {
  const [found, kept, open] = await Promise.all([
    ask(nodes),
    ask('SELECT count(*) AS kept FROM uw.lease'),
    ask(waiting),
  ]);
  const all = found.map(nodeIn);
  const live = new Set(all.filter(({ leaseLeftMs }) => leaseLeftMs > 0).map(({ id }) => id));
  return { nodes: all, sessions: Number(kept[0]?.['kept']), waiting: open.map((row) => sessionIn(row, live)) };
}

function nodeIn(row: PgRow): ClusterNode {
  const duration = (name: string): number => Math.round(Number(row[name]));
  return {
    id: String(row['id']),
    name: String(row['name']),
    host: String(row['host']),
    pid: Number(row['pid']),
    upMs: Math.max(0, duration('up')),
    silentMs: Math.max(0, duration('silent')),
    leaseLeftMs: duration('lease_left'),
    owned: Number(row['owned']),
    wanted: Number(row['waiting']),
    renewMs: Number(row['renew_ms']),
  };
}

function sessionIn(row: PgRow, live: ReadonlySet<string>): ClusterSession {
  const owner = String(row['owner']);
  return {
    session: String(row['session']),
    node: live.has(owner) ? owner : undefined,
    fence: Number(row['token']),
    messages: Number(row['messages']),
    oldestMs: Math.max(0, Math.round(Number(row['oldest']))),
  };
}
