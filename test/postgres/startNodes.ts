import { onTestFinished } from 'vitest';
import type { Logger } from '../../src/policy/text/logger.ts';
import { NodeConnection } from '../../postgres/nodeConnection.ts';
import { inSchema, readTarget } from '../../postgres/pgTarget.ts';
import { presenceKey } from '../../postgres/leaseStatements.ts';
import { importPg } from '../../postgres/pgDriver.ts';
import { startPostgresProxy } from '../support/postgresProxy.ts';
import { postgresServer } from '../support/postgresServer.ts';
import { SkippingClock } from '../support/skippingClock.ts';
import { newSchema } from '../store/startPostgres.ts';

/** Connections of nodes to a new schema, through a proxy. */
export async function startNodes() {
  const { url, schema, ask } = await newSchema();
  const { port } = await postgresServer();
  const proxy = await startPostgresProxy(port);
  const pg = await importPg('test');
  const clock = new SkippingClock();
  const lines: string[] = [];
  const line = (text: string): void => void lines.push(text);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  function start(search = '') {
    const target = readTarget(`${url.replace(`:${port}/`, `:${proxy.port}/`)}${search}`);
    const node = new NodeConnection(pg, target, { clock, random: () => 0, logger });
    onTestFinished(() => node.close());
    const heard: (string | undefined)[] = [];
    node.onWake((hint) => heard.push(hint));
    return { node, heard };
  }
  const locks = async (runtime: string): Promise<number> => {
    const [row] = await ask(
      `SELECT pg_try_advisory_xact_lock(${inSchema(presenceKey('$1'), schema)}) AS free,
        (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND granted
          AND objid = (hashtext($1)::bigint & 4294967295)::oid) AS n`,
      [runtime],
    );
    return row?.['free'] === true ? 0 : Number(row?.['n']);
  };
  return { start, proxy, clock, lines, locks, port, url, schema };
}
