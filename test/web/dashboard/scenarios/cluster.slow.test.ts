import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { hasPostgres } from '../../../support/postgresServer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { newSchema } from '../../../store/startPostgres.ts';
import { startDashboard } from '../startDashboard.ts';

describe.skipIf(chromiumPath === undefined || !hasPostgres)(
  'the page of the dashboard, on a database of several gateways',
  () => {
    const open = useBrowser();

    it('[N-7] [O-13] shows who owns what, with fences and leases, and what nobody has', async () => {
      vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
      const { url, ask } = await newSchema();
      const gateway = createGateway({ store: url, logger: false });
      gateway.session('agent:main', {
        onMessage: (_, { signal }) => new Promise((end) => signal.addEventListener('abort', end)),
      });
      await gateway.start();
      onTestFinished(() => gateway.stop());
      await gateway.session('agent:main').send({ kind: 'user', text: 'hello' });
      await ask(`INSERT INTO uw.mail (session, body, posted_at, sender) VALUES ('customer:1', '{}', 0, 'x')`);
      const server = await startDashboard(url);
      const { page, troubles } = await open(`${server.url}#/processes`);
      const cluster = page.getByRole('region', { name: 'Gateways that share the database' });
      await cluster.waitFor();
      await cluster.getByText('1 of 1 gateways hold their lease. Sessions: 1').waitFor();
      const rows = await cluster.locator('tbody tr').allInnerTexts();
      const words = rows.map((row) => row.replaceAll(/\s+/g, ' '));
      expect(words[0]).toMatch(new RegExp(`pid ${process.pid} .* 1 0 [\\d.]+m?s left`));
      expect(words[1]).toMatch(/^customer:1 1 .* 0 nobody$/);
      expect(words[2]).toMatch(/^agent:main 1 .* 1 \S+ \(/);
      expect(troubles).toEqual([]);
    });
  },
);
