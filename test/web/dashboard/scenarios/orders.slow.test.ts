import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startDashboard } from '../startDashboard.ts';

const heading = (page: Page, text: string | RegExp) => page.locator('h1', { hasText: text }).waitFor();

describe.skipIf(chromiumPath === undefined || !hasSqlite)('orders about a session that hangs, in a browser', () => {
  const open = useBrowser();

  /** A session whose calls of `kb` hang, each until somebody ends it. */
  async function startHanging() {
    const home = temporaryDirectory();
    vi.stubEnv('XDG_RUNTIME_DIR', home);
    const path = join(home, 'gateway.sqlite');
    const gateway = createGateway({ store: path, logger: false });
    gateway.integration('kb', {}, (_input, { signal }) => {
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    });
    const results: unknown[] = [];
    const session = gateway.session('agent:main', {
      onMessage: async (_message, turn) => void results.push(await turn.tool('kb', 'search')),
    });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const server = await startDashboard(path, { by: 'anna' });
    const send = async (): Promise<void> => void (await session.send({ kind: 'user' }));
    return { gateway, session, results, server, send };
  }

  it('[O-13] says why it hangs; the rule is fired from the page, and the session goes on', async () => {
    const { gateway, session, results, server, send } = await startHanging();
    const fired = gateway.wait('operator.fired');
    await send();
    await send();
    const { page, troubles } = await open(`${server.url}`);
    await heading(page, /./);
    await page.evaluate("location.hash = '#/sessions/agent%3Amain'");
    await page.locator('.why .large', { hasText: 'It waits for search in kb.' }).waitFor();
    const rule = page.locator('.rules li', { hasText: 'The watchdog ends search in kb' });
    await rule.locator('.cd').waitFor();
    await rule.getByRole('button', { name: 'Fire now…' }).click();
    await page.getByLabel('Reason').fill('the vendor is down');
    await page.getByRole('dialog').getByRole('button', { name: 'Fire' }).click();
    await page.locator('.toast', { hasText: 'The watchdog ended' }).waitFor();
    await expect.poll(() => results.length).toBe(1);
    expect(results).toMatchObject([{ status: 'error', synthetic: true, kind: 'watchdog' }]);
    expect(await fired).toMatchObject({ rule: 'tool_call', by: 'anna', why: 'the vendor is down' });
    await page.locator('.why', { hasText: 'Turn 2' }).waitFor();
    expect(session.why().turn).toMatchObject({ turn: 2 });
    expect(troubles).toEqual([]);
  });

  it('[O-13] cancels a call after it was asked twice, and says where nothing is left to cancel', async () => {
    const { session, results, server, send } = await startHanging();
    await send();
    const { page, troubles } = await open(server.url);
    await heading(page, /./);
    await page.evaluate("location.hash = '#/sessions/agent%3Amain'");
    await page.getByRole('button', { name: 'Cancel…', exact: true }).click();
    expect(await page.getByRole('dialog').getByRole('button').allTextContents()).toEqual([
      'Let it run',
      'Cancel the call',
    ]);
    const act = page.getByRole('dialog').getByRole('button', { name: 'Cancel the call' });
    expect(await act.getAttribute('aria-disabled')).toBe('true');
    // It ends in another way meanwhile.
    session.cancel('agent:main-1-1');
    await page.getByLabel('Type agent:main to confirm').fill('agent:main');
    await act.click();
    await page.locator('.toast', { hasText: 'It was not done' }).waitFor();
    expect(results).toMatchObject([{ kind: 'cancelled' }]);
    expect(troubles).toEqual([]);
  });

  it("[O-13] [G-16] raises a spent budget by what the page proposes, or by a limit of one's own; what waits goes on", async () => {
    const home = temporaryDirectory();
    vi.stubEnv('XDG_RUNTIME_DIR', home);
    const path = join(home, 'gateway.sqlite');
    const gateway = createGateway({ store: path, logger: false });
    const kb = gateway.integration('kb', {}, () => 'found');
    const session = gateway.session('agent:main', {
      budget: { session: { toolCalls: 1 } },
      async onMessage(_message, turn) {
        for (const nth of [1, 2, 3]) await turn.tool(kb, 'search', { nth });
      },
    });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const server = await startDashboard(path, { by: 'anna' });
    const raised = gateway.wait('budget.raised');
    const sent = await session.send({ kind: 'user' });
    const { page, troubles } = await open(server.url);
    await page.locator('.need', { hasText: 'waits for its budget of 1 tool calls' }).waitFor();
    await page.getByRole('button', { name: 'Raise…' }).click();
    const limit = page.getByLabel('Its limit from now on');
    expect(await limit.inputValue()).toBe('toolCalls=2');
    await page.getByLabel('Reason').fill('it is nearly done');
    await page.getByRole('dialog').getByRole('button', { name: 'Raise it' }).click();
    await page.locator('.toast', { hasText: 'was raised to 2' }).waitFor();
    expect(await raised).toMatchObject({ by: 'anna', why: 'it is nearly done', most: 2 });
    await page.evaluate("location.hash = '#/sessions/agent%3Amain'");
    await page.getByRole('button', { name: 'Raise its budget…' }).click();
    await limit.fill('tokens=3M');
    const act = page.getByRole('dialog').getByRole('button', { name: 'Raise it' });
    await act.click();
    await page.locator('.toast', { hasText: 'has no limit such as tokens=3M' }).waitFor();
    await page.getByRole('button', { name: 'Raise its budget…' }).click();
    await limit.fill('');
    expect(await act.getAttribute('aria-disabled')).toBe('true');
    await limit.fill('toolCalls=9/session');
    await act.click();
    expect(sent.accepted && (await sent.processed)).toMatchObject({ ok: true });
    expect(troubles).toEqual([]);
  });
});
