import type { RuntimeRow } from '../../runtimes.ts';
import { toRuntime } from '../pgRuntimes.ts';
import type { Ask } from './pgReads.ts';

/** For how long a run was not heard of says the clock of the database. */
const runtimes = `
  SELECT *, greatest(0, extract(epoch FROM clock_timestamp() - seen_at) * 1000)::float8 AS silent_ms
  FROM uw.runtime ORDER BY started_at, id`;

/** Runs of all machines that are entered, oldest first. @throws what the server says. */
export async function readPgRuntimes(ask: Ask): Promise<readonly RuntimeRow[]> {
  return (await ask(runtimes)).map((row) => ({
    ...toRuntime(row),
    host: String(row['host']),
    silentMs: Math.round(Number(row['silent_ms'])),
  }));
}
