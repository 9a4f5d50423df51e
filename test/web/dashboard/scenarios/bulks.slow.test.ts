import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { startDashboard, startGateway } from '../startDashboard.ts';
import { startWorld } from '../startWorld.ts';

describe.skipIf(chromiumPath === undefined || !hasSqlite)('orders on many, in a browser', () => {
  const open = useBrowser();

  it('[O-13] resets the circuits that are open, chosen by the keyboard, after it was asked with their number', async () => {
    const { path, gateway, integrations } = await startGateway(['search', 'mail', 'wiki']);
    for (const each of integrations.slice(0, 2)) each.breaker.isolate();
    const server = await startDashboard(path, { by: 'anna' });
    const { page, troubles } = await open(`${server.url}#/integrations`);
    const boxes = page.locator('.pick');
    await boxes.nth(2).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await expect.poll(() => page.locator('.pick:checked').count()).toBe(1);
    await page.getByRole('button', { name: 'Reset 1…' }).waitFor();
    await page.getByRole('button', { name: 'Choose all (3)' }).click();
    // What is not out of service has no circuit to reset.
    await page.getByRole('button', { name: 'Restart 3…' }).waitFor();
    await page.getByRole('button', { name: 'Reset 2…' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Reset circuit of 2 integrations?' });
    await dialog.getByLabel('Reason').fill('the vendor is back');
    const reset = gateway.wait('operator.reset');
    await dialog.getByRole('button', { name: 'Reset' }).click();
    const progress = page.locator('section.bar', { hasText: 'Reset circuit of 2 by anna' });
    await progress.getByText('ended after 2, 2 done, 0 not done').waitFor();
    expect(await reset).toMatchObject({ by: 'anna', why: 'the vendor is back' });
    await expect.poll(() => integrations.map(({ breaker }) => breaker.state)).toEqual(['closed', 'closed', 'closed']);
    expect(await page.locator('.pick:checked').count()).toBe(0);
    await progress.getByRole('button', { name: 'Put away' }).click();
    expect(await progress.count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('[O-13] wants the number typed where work is cut off, and stops on the way', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `integration-${index}`);
    const { path } = await startGateway(names);
    const server = await startDashboard(path);
    const { page, troubles } = await open(`${server.url}#/integrations`);
    await page.getByRole('button', { name: 'Choose all (30)' }).click();
    await page.getByRole('button', { name: 'Restart 30…' }).click();
    const act = page.getByRole('dialog').getByRole('button', { name: 'Restart' });
    expect(await act.getAttribute('aria-disabled')).toBe('true');
    await page.getByLabel('Type 30 to confirm').fill('30');
    await act.click();
    const progress = page.locator('section.bar', { hasText: 'Restart 30' });
    await progress.getByRole('button', { name: 'Stop' }).click();
    await progress.getByText(/stopped after \d+, \d+ done, 0 not done/).waitFor();
    expect(await progress.locator('progress').getAttribute('max')).toBe('30');
    expect(troubles).toEqual([]);
  });

  it('[O-13] [G-14] drops the dead letters that were chosen', async () => {
    const { path } = await startWorld();
    const server = await startDashboard(path);
    const { page, troubles } = await open(`${server.url}#/letters`);
    await page.getByLabel('Choose agent:main-m901').check();
    await page.getByLabel('Choose agent:main-m902').check();
    // What cannot be read cannot be sent again.
    await page.getByRole('button', { name: 'Send again 1…' }).waitFor();
    await page.getByRole('button', { name: 'Drop 2…' }).click();
    await page.getByLabel('Type 2 to confirm').fill('2');
    await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
    await page.getByText('None: every message that was accepted').waitFor();
    expect(troubles).toEqual([]);
  });

  it('[O-13] are not there for who may look alone', async () => {
    const { path } = await startWorld();
    const server = await startDashboard(path, { right: 'read' });
    const { page, troubles } = await open(`${server.url}#/integrations`);
    await page.locator('tbody tr').first().waitFor();
    expect(await page.locator('.pick, [role=group][aria-label^="Orders"]').count()).toBe(0);
    await page.evaluate("location.hash = '#/letters'");
    await page.locator('section[aria-label^="Dead letters"] tbody tr').first().waitFor();
    expect(await page.locator('.pick, [role=group][aria-label^="Orders"]').count()).toBe(0);
    expect(troubles).toEqual([]);
  });
});
