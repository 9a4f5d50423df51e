import { describe, expect, it } from 'vitest';
import { startPostgresProxy } from '../support/postgresProxy.ts';
import { hasPostgres, postgresServer } from '../support/postgresServer.ts';
import { newSchema } from '../store/startPostgres.ts';
import { claimed } from './claimedSession.ts';

describe.skipIf(!hasPostgres)('a store in a PostgreSQL database', () => {
  it.each(['to_server', 'to_client', 'both'] as const)(
    '[N-7] ends in 5 s though its server does not answer (%s), and says that it does not',
    { timeout: 30_000 },
    async (direction) => {
      const { open, ask } = await newSchema();
      const proxy = await startPostgresProxy((await postgresServer()).port);
      const lines: string[] = [];
      const line = (text: string): void => void lines.push(text);
      const logger = { debug: line, info: line, warn: line, error: line };
      const store = await open({ port: proxy.port, leaseMs: 2_500, logger });
      const ledger = await claimed(store, 'a');
      proxy.hold(direction);
      const at = performance.now();
      const released = ledger.release();
      store.runtimes.leave('a');
      await store.close();
      expect(performance.now() - at).toBeLessThan(8_000);
      await released;
      expect(lines.join('\n')).toContain('did not answer for 5000 ms');
      proxy.pass();
      // Whoever waits for its sessions waits no longer than for the lease.
      await expect.poll(() => ask('SELECT id FROM uw.node WHERE expires_at > clock_timestamp()')).toEqual([]);
    },
  );
});
