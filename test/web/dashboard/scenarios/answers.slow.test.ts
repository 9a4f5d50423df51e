import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startDashboard } from '../startDashboard.ts';

describe.skipIf(chromiumPath === undefined || !hasSqlite)('questions to people, in a browser', () => {
  const open = useBrowser();

  /** A gateway whose approval and session ask, and its dashboard. */
  async function startAsking() {
    const path = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: path, control: false, inbox: true });
    const approve = gateway.approval('deploys');
    const said: unknown[] = [];
    const session = gateway.session('agent:main', {
      onMessage: async (_message, turn) =>
        void said.push(await turn.ask('Which host?', undefined, { form: 'text', overallMs: 60_000 })),
    });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const approval = approve({ action: 'deploy 1.4.2', payload: { changes: 12 } });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    await session.send({ kind: 'user' });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(2);
    const server = await startDashboard(path, { by: 'anna' });
    return { gateway, approval, said, server };
  }

  it('[G-17] [O-13] lead the page, which answers each in its form', async () => {
    const { approval, said, server } = await startAsking();
    const { page, troubles } = await open(server.url);
    const row = page.locator('li.need', { hasText: 'deploys asks a person: deploy 1.4.2' });
    await row.locator('.cd').waitFor();
    expect(await row.textContent()).toContain('{"changes":12}');
    await row.getByRole('button', { name: 'Allow…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('go');
    await dialog.getByRole('button', { name: 'Allow' }).click();
    await page.locator('.toast', { hasText: 'allowed by anna (page)' }).waitFor();
    expect(await approval).toMatchObject({ decision: 'accept', reason: 'go', value: { by: 'anna', way: 'page' } });
    const asks = page.locator('li.need', { hasText: 'Asks a person: Which host?' });
    await asks.getByRole('button', { name: 'Answer…' }).click();
    await dialog.getByLabel('Answer').fill('db-2');
    await dialog.getByRole('button', { name: 'Answer' }).click();
    await expect.poll(() => said, { timeout: 5000 }).toEqual([{ ok: true, value: 'db-2' }]);
    expect(troubles).toEqual([]);
  });

  it('[G-17] are answered by the form of their link', async () => {
    const { gateway, approval, server } = await startAsking();
    const [question] = (await gateway.inbox?.open()) ?? [];
    const signed = await gateway.store?.questions.sign(question?.id ?? '');
    const link = `http://127.0.0.1:${server.port}/inbox/${question?.id}/${signed}`;
    const { page, troubles } = await open(link);
    await page.locator('h1', { hasText: 'deploys asks' }).waitFor();
    await page.getByLabel('Your name').fill('Ben');
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.locator('p', { hasText: 'declined by Ben (link)' }).waitFor();
    expect(await approval).toMatchObject({ decision: 'decline', value: { by: 'Ben', way: 'link' } });
    await page.goto(link);
    await page.locator('p', { hasText: 'declined by Ben (link)' }).waitFor();
    expect(troubles.filter((each) => !each.includes('410'))).toEqual([]);
  });
});
