import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startDashboard } from '../startDashboard.ts';

const long = (what: string): string => `${what}-${'abcdefghij'.repeat(12)}`;
const [integration, session, tool] = [long('integration'), long('agent:session'), long('tool')];

/** A gateway all of whose names, errors and messages are long, and without a place where they could be broken. */
async function startLong() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = join(home, 'gateway.sqlite');
  const gateway = createGateway({
    ...{ store: path, logger: false, alerts: { failures: 1 } },
    toolCallRetry: { maxAttempts: 1 },
  });
  onTestFinished(() => gateway.stop());
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1, resetTimeoutMs: 600_000 } };
  const broken = gateway.integration(integration, { policy }, () => {
    throw Object.assign(new Error(long('error').repeat(4)), { status: 503 });
  });
  const hung = gateway.integration(long('hung'), {}, () => new Promise(() => undefined));
  const one = gateway.session(session, {
    async onMessage({ text }, turn) {
      await turn.tool(broken, tool, { long: long('input') });
      if (text === 'hang') await turn.tool(hung, tool, {});
      throw new Error(long('handler'));
    },
  });
  await gateway.start();
  const alert = gateway.wait('alert.raised');
  const ended = gateway.wait('session.turn_failed');
  await one.send({ kind: 'user', text: 'fail' });
  await Promise.all([ended, alert]);
  await one.send({ kind: 'user', text: 'hang' });
  await expect.poll(() => one.why().calls.length).toBe(1);
  await gateway.store?.flush();
  return path;
}

const views = [
  ...['overview', 'sessions', 'integrations', 'processes', 'events', 'alerts', 'letters', 'machines', 'cluster'],
  ...[`sessions/${encodeURIComponent(session)}`, `integrations/${encodeURIComponent(integration)}`],
  ...['machines/session', 'machines/integration', `events?integration=${encodeURIComponent(integration)}`],
];

/** Elements that stand out of the page to the right, but not within what scrolls by itself. */
const wide = `[...document.querySelectorAll('body *')].filter((each) => {
  if (each.getBoundingClientRect().right <= document.documentElement.clientWidth + 1) return false;
  for (let up = each.parentElement; up; up = up.parentElement)
    if (['auto', 'scroll', 'hidden', 'clip'].includes(getComputedStyle(up).overflowX) && up !== document.body && up !== document.documentElement) return false;
  return each.getBoundingClientRect().width > 0;
}).slice(0, 3).map((each) => each.outerHTML.slice(0, 160))`;

describe.skipIf(chromiumPath === undefined || !hasSqlite)('the dashboard on a phone', () => {
  const open = useBrowser();

  it.each([390, 360, 320])('[O-13] is no wider than %i px, whatever names and errors there are', async (width) => {
    const server = await startDashboard(await startLong());
    const { page, troubles } = await open(server.url, { viewport: { width, height: 800 } });
    await page.locator('.live[data-link=live]').waitFor();
    const over: unknown[] = [];
    for (const view of views) {
      await page.evaluate(`location.hash = ${JSON.stringify(`#/${view}`)}`);
      await page.locator('main h1, main .box').first().waitFor();
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const by = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      const out = (await page.evaluate(wide)) as readonly string[];
      if (by !== 0 || out.length > 0) over.push([view.slice(0, 30), by, out]);
    }
    await page.evaluate(`location.hash = ${JSON.stringify(`#/sessions/${encodeURIComponent(session)}`)}`);
    await page.getByRole('button', { name: 'Cancel…', exact: true }).first().click();
    const dialog = (await page.evaluate(wide)) as readonly string[];
    if (dialog.length > 0) over.push(['dialog', dialog]);
    expect(over).toEqual([]);
    expect(troubles).toEqual([]);
  });
});
