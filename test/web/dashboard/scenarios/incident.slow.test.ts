import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { startDashboard } from '../startDashboard.ts';
import { startWorld } from '../startWorld.ts';

describe.skipIf(chromiumPath === undefined || !hasSqlite)('an incident saved from the page, in a browser', () => {
  const open = useBrowser();

  it.each([
    ['integrations/search', 'integration', 'search'],
    ['sessions/agent%3Amain', 'session', 'agent:main'],
  ])('[O-13] [O-16] is a file about %s, for who may look alone too', async (view, kind, id) => {
    const { path } = await startWorld();
    const server = await startDashboard(path, { right: 'read' });
    const { page, troubles } = await open(`${server.url}#/${view}`);
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save incident' }).click();
    const saved = await coming;
    expect(saved.suggestedFilename()).toMatch(/^incident-(search|agent_main)-\d{8}T\d{6}\.json$/);
    await page.locator('.toast', { hasText: saved.suggestedFilename() }).waitFor();
    const incident = JSON.parse(readFileSync(await saved.path(), 'utf8')) as unknown;
    expect(incident).toMatchObject({ subject: { kind, id } });
    expect(troubles).toEqual([]);
  });
});
