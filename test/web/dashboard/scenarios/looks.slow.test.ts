import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { startDashboard } from '../startDashboard.ts';
import { script, startWorld } from '../startWorld.ts';

const pictures = fileURLToPath(new URL('../../../../.artefacts/dashboard/', import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const views = {
  overview: '.need',
  sessions: 'tbody tr',
  'sessions/agent%3Amain': '.tl li',
  'sessions/agent%3Aidle': 'h1',
  integrations: 'tbody tr',
  'integrations/search': '.box',
  [`integrations/${encodeURIComponent(script)}`]: '.box',
  processes: 'tbody tr',
  events: '.event',
  alerts: '.box',
  letters: '.box',
  machines: '.chart svg',
  'machines/session': '.chart svg',
  'machines/subprocess': '.chart svg',
};

/** What axe finds that keeps people out, as `rule: element`. */
async function findings(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary.slice(0, 200))))`);
}

describe.skipIf(chromiumPath === undefined || !hasSqlite)('how the dashboard looks', () => {
  const open = useBrowser();
  mkdirSync(pictures, { recursive: true });

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [820, 'dark'],
    [1600, 'light'],
    [1600, 'dark'],
  ] as const)(
    '[O-13] every view has room at %i px in %s, and axe finds nothing serious in it',
    async (width, colorScheme) => {
      const { path } = await startWorld();
      const server = await startDashboard(path);
      const { page, troubles } = await open(server.url, { viewport: { width, height: 900 }, colorScheme });
      await page.locator('.live[data-link=live]').waitFor();
      for (const [view, shown] of Object.entries(views)) {
        await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
        await page.locator(`main ${shown}`).first().waitFor();
        const name = view.replace(/[^a-z]+/gi, '-').slice(0, 40);
        await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
        expect([view, over, await findings(page)]).toEqual([view, 0, []]);
        expect(await page.locator('img, main script').count()).toBe(0);
      }
      expect(troubles).toEqual([]);
    },
  );
});
