import type { RuntimeRow } from '../../src/store/runtimes.ts';
import { runIn } from '../../src/store/tables/runtimes.ts';
import type { Ask } from './pgReads.ts';

/** For how long a run was not heard of says the clock of the database. */
const runtimes = `
  SELECT r.*, greatest(0, extract(epoch FROM clock_timestamp() - greatest(r.seen_at, n.seen_at)) * 1000)::float8 AS silent_ms,
    coalesce(n.expires_at <= clock_timestamp(), false) AS has_expired
  FROM uw.runtime r LEFT JOIN uw.node n ON n.id = r.id ORDER BY r.started_at, r.id`;

/** Runs of all machines that are entered, oldest first. @throws what the server says. */
export async function readPgRuntimes(ask: Ask): Promise<readonly RuntimeRow[]> {
  return (await ask(runtimes)).map((row) => ({
    ...runIn(row),
    host: String(row['host']),
    silentMs: Math.round(Number(row['silent_ms'])),
    hasExpired: row['has_expired'] === true,
  }));
}
