import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { machineCatalogue } from '../../../../cli/machineCatalogue.ts';
import { paths } from '../../../../web/dashboard/browser/glyphs.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';
import { startDashboard, startGateway } from '../startDashboard.ts';
import { startWorld } from '../startWorld.ts';

if (chromiumPath === undefined) process.stderr.write('missing: chromium; the dashboard was looked at by nobody\n');

const texts = (page: Page, selector: string) => page.locator(selector).allTextContents();
const heading = (page: Page, text: string | RegExp) => page.locator('h1', { hasText: text }).waitFor();
const isLive = (page: Page) => page.locator('.live[data-link=live]').waitFor();
const views = [
  'overview',
  'sessions',
  'sessions/agent%3Amain',
  'integrations',
  'integrations/search',
  'processes',
  'events',
  'alerts',
  'letters',
  'machines',
];

describe.skipIf(chromiumPath === undefined || !hasSqlite)('the page of the dashboard, in a browser', () => {
  const open = useBrowser();

  async function start(names?: readonly string[], options: Parameters<typeof startDashboard>[1] = {}) {
    const gateway = await startGateway(names);
    const server = await startDashboard(gateway.path, options);
    return { ...gateway, server };
  }

  it('[O-13] says in its heading whether it needs a person, takes the token out of the address, and opens again by its cookie', async () => {
    const { server } = await start();
    const { page, troubles } = await open(server.url);
    await heading(page, 'All is well');
    expect(page.url()).toBe(`http://127.0.0.1:${server.port}/#/overview`);
    await page.reload();
    await heading(page, 'All is well');
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(troubles).toEqual([]);
  });

  it('[O-13] says to a browser without access how to get it', async () => {
    const { server } = await start();
    const { page } = await open(`http://127.0.0.1:${server.port}/#token=AAAAAAAAAAAAAAAAAAAAAAAA`);
    await page.locator('.bar', { hasText: 'This browser has no access' }).waitFor();
    expect(page.url()).not.toContain('token');
  });

  it('[O-13] [O-9] shows a circuit that opens by itself, with the cause and a countdown that runs', async () => {
    const { server, call } = await start();
    const { page, troubles } = await open(server.url);
    await heading(page, 'All is well');
    await call('gateway closed (1012)');
    await page
      .locator('.need', { hasText: 'Circuit open (1 attempt failed, consecutiveFailures 1): calls are refused.' })
      .waitFor();
    // The cause comes with the record of the circuit, which may be a moment later.
    await expect.poll(() => texts(page, '.need .ev')).toEqual(['transient: gateway closed (1012)']);
    const countdown = page.locator('.need .cd');
    const first = await countdown.textContent();
    await expect.poll(() => countdown.textContent()).not.toBe(first);
    await page.locator('.need .who a').click();
    await heading(page, 'search');
    expect(page.url()).toContain('#/integrations/search');
    expect((await texts(page, '.large'))[0]).toBe(
      '1 attempt failed, consecutiveFailures 1: transient: gateway closed (1012)',
    );
    expect(troubles).toEqual([]);
  });

  it('[O-13] says of a circuit whose wait is over that the next call tries it', async () => {
    const { path, call } = await startGateway(['search'], undefined, 1);
    const server = await startDashboard(path);
    await call('down');
    const { page } = await open(server.url);
    await page.locator('.need', { hasText: 'The next call tries it' }).waitFor();
    await page.locator('.need .who a').click();
    await heading(page, 'search');
    expect((await texts(page, '.head .dim'))[0]).toMatch(/The next call tries it\.$/);
  });

  it('[O-13] isolates and resets a circuit, each time it was asked twice', async () => {
    const { server } = await start();
    const { page, troubles } = await open(server.url);
    await heading(page, 'All is well');
    await page.keyboard.press('3');
    await page.getByRole('link', { name: 'search' }).click();
    await page.getByRole('button', { name: 'Isolate…' }).click();
    const act = page.getByRole('dialog').getByRole('button', { name: 'Isolate' });
    expect(await act.getAttribute('aria-disabled')).toBe('true');
    // Enter alone does nothing.
    await page.keyboard.press('Enter');
    await page.getByLabel('Reason').fill('the vendor works on it');
    await page.getByLabel('Type search to confirm').fill('search');
    await act.click();
    await page.locator('.toast', { hasText: 'The circuit of search is held open until it is reset.' }).waitFor();
    await page.locator('main .st', { hasText: 'isolated' }).waitFor();
    await page.keyboard.press('1');
    await heading(page, '1 thing needs a person');
    await page.getByRole('button', { name: 'Reset…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).click();
    await heading(page, 'All is well');
    await page.keyboard.press('5');
    await page.locator('.event', { hasText: 'operator/isolated' }).waitFor();
    expect((await texts(page, '.event .mono')).join()).toContain('the vendor works on it');
    expect(troubles).toEqual([]);
  });

  it('[O-13] shows who may look alone no button that they may not press', async () => {
    const { path } = await startWorld();
    const server = await startDashboard(path, { right: 'read' });
    const { page } = await open(server.url);
    await page.locator('.bar', { hasText: 'You may look, and not act' }).waitFor();
    for (const view of [...views, 'sessions/agent%3Aops']) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.locator('main .box').first().waitFor();
      // All that asks before it acts says so by its dots.
      expect([view, await page.locator('main button', { hasText: '…' }).allTextContents()]).toEqual([view, []]);
    }
  });

  it('[O-13] keeps what is shown while it is paused, and catches up', async () => {
    const { server, call } = await start();
    const { page } = await open(server.url);
    await heading(page, 'All is well');
    await page.keyboard.press('p');
    await call('down');
    await page.locator('.live', { hasText: /Paused, \d+ new/ }).waitFor();
    await heading(page, 'All is well');
    expect(await page.locator('.need').count()).toBe(0);
    await page.keyboard.press('p');
    await page.locator('.need').waitFor();
  });

  it('[O-13] says that the connection is lost, and goes on by itself when it is back', async () => {
    const { server, path, call } = await start();
    const { page } = await open(server.url);
    await isLive(page);
    await server.close();
    await page.locator('.bar', { hasText: 'No connection' }).waitFor();
    await call('down');
    // Another server knows no cookies of the first: here it is the host that lets in.
    await startDashboard(path, { port: server.port, access: () => ({ right: 'all', by: 'kim' }) });
    await isLive(page);
    await page.locator('.need').waitFor();
    expect(await page.locator('.bar').count()).toBe(0);
  });

  it('[O-13] [V-9] shows a kept session that nothing was for yet as asleep, among what should run and does', async () => {
    const { server } = await start();
    const { page } = await open(server.url);
    await heading(page, 'All is well');
    await page.keyboard.press('4');
    const row = page.locator('tr', { hasText: 'session:agent:main' });
    await row.locator('.st', { hasText: 'asleep' }).waitFor();
    await page.getByText('Everything that should run runs.').waitFor();
    // The sign of what is idle, not of what moves.
    expect(await row.locator('.st path').getAttribute('d')).toBe(paths.idle);
  });

  it('[O-13] is worked by the keyboard alone', async () => {
    const { server } = await start(['search', 'mail']);
    const { page } = await open(server.url);
    await heading(page, 'All is well');
    for (const [index, name] of [
      'Overview',
      'Sessions',
      'Integrations',
      'Processes',
      'Events',
      'Alerts',
      'Dead letters',
      'Machines',
    ].entries()) {
      await page.keyboard.press(String(index + 1));
      await page.locator(`nav [aria-current=page]`, { hasText: name }).waitFor();
    }
    await page.keyboard.press('3');
    await heading(page, 'Integrations');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(page, 'search');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.keyboard.press('/');
    await page.keyboard.type('agent');
    await page.keyboard.press('Enter');
    await heading(page, 'agent:main');
  });

  it('[O-13] filters events, and keeps the filters in the address', async () => {
    const { server, call } = await start(['search', 'mail']);
    const { page } = await open(server.url);
    await isLive(page);
    await call('down');
    await page.keyboard.press('5');
    await page.locator('.event', { hasText: 'breaker/opened' }).first().waitFor();
    await page.getByLabel('Integration', { exact: true }).selectOption('mail');
    await page.getByLabel('only failures').check();
    await expect.poll(async () => new Set(await texts(page, '.event .who'))).toEqual(new Set(['mail']));
    expect(page.url()).toMatch(/#\/events\?integration=mail&failed=1$/);
    await page.locator('.event summary').first().click();
    await page.locator('.event pre').first().waitFor();
    expect(JSON.parse((await texts(page, '.event pre'))[0] ?? '')).toMatchObject({ integration: 'mail' });
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.locator('.event', { hasText: 'search' }).first().waitFor();
  });

  it('[O-8] takes names and errors for text, whatever is in them', async () => {
    const name = '<img src=x onerror="document.title=1">';
    const { server, call } = await start([name]);
    const { page, troubles } = await open(server.url);
    await isLive(page);
    await call('<script>document.title=2</script>');
    await page.locator('.need', { hasText: name }).waitFor();
    for (const view of [...views, `integrations/${encodeURIComponent(name)}`]) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.locator('h1').waitFor();
    }
    await heading(page, name);
    expect([await page.locator('img').count(), await page.locator('main script').count(), troubles]).toEqual([
      0,
      0,
      [],
    ]);
  });

  it.each([
    [390, 'light'],
    [390, 'dark'],
    [820, 'dark'],
    [1600, 'light'],
    [1600, 'dark'],
  ] as const)('[O-13] has room for every view at %i px, in %s', async (width, colorScheme) => {
    const { server, call } = await start(['search', 'a-long-name-of-an-integration-that-somebody-was-proud-of']);
    await call(
      'connect ECONNREFUSED 10.0.3.7:7700, which is a long error that somebody wrote, and it does not end soon',
    );
    const { page, troubles } = await open(server.url, { viewport: { width, height: 900 }, colorScheme });
    await isLive(page);
    for (const view of views) {
      await page.evaluate(`location.hash = '#/${view}'`);
      await page.locator('main .box').first().waitFor();
      const over = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
      expect([view, over]).toEqual([view, 0]);
    }
    expect(troubles).toEqual([]);
  });

  it('[O-13] draws the machines that run, and says who is in which state of them', async () => {
    const { server, call } = await start(['search', 'mail']);
    const { page, troubles } = await open(server.url);
    await isLive(page);
    await page.keyboard.press('8');
    await page.locator('.chart [data-state=idle].lit', { hasText: 'idle · 2' }).waitFor();
    const states = Object.keys(machineCatalogue['integration']?.machine.states ?? {});
    const all = (selector: string, name: string): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('${selector}')].map((each) => each.getAttribute('${name}'))`);
    const drawn = await all('.chart [data-state]', 'data-state');
    expect(new Set(drawn)).toEqual(new Set([...states, '*']));
    const places = () => all('.chart rect', 'x');
    const before = await places();
    await call('down');
    await page.locator('.chart [data-state=open].lit', { hasText: 'open · 2' }).waitFor();
    expect(await page.locator('.chart .lit').count()).toBe(1);
    expect(await places()).toEqual(before);
    expect(await texts(page, '[aria-label="Who is where"] tbody tr')).toEqual([
      expect.stringMatching(/open2mail, search|open2search, mail/),
    ]);
    for (const name of Object.keys(machineCatalogue)) {
      await page.getByRole('button', { name, exact: true }).click();
      await page.locator(`.chart[aria-label="Statechart of ${name}"]`).waitFor();
    }
    expect(troubles).toEqual([]);
  });

  it('[O-13] draws a row of a thousand again only when that row has changed', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `tool-${index}`);
    const { server, integrations } = await start(names);
    const { page } = await open(server.url);
    await page.keyboard.press('3');
    for (let shown = 200; shown < 1000; shown += 200) {
      await page
        .locator('tbody tr')
        .nth(shown - 1)
        .waitFor();
      await page.getByRole('button', { name: /^Show 200 of/ }).click();
    }
    await page.locator('tbody tr').nth(999).waitFor();
    await page.evaluate(`
      globalThis.changed = new Set();
      new MutationObserver((all) => {
        for (const { target } of all) changed.add((target.nodeType === 1 ? target : target.parentElement).closest('tr')?.cells[0].textContent);
      }).observe(document.querySelector('tbody'), { subtree: true, childList: true, characterData: true, attributes: true });
    `);
    // Its place in the list stays while the pointer is on the list.
    await page.locator('tbody tr').first().hover();
    integrations[7]?.breaker.isolate();
    await page.locator('tbody .st', { hasText: 'isolated' }).waitFor();
    expect(await page.evaluate('changed.size')).toBe(1);
  });

  it('[O-13] keeps the focus, and what has it in its place, while rows change', async () => {
    const { server, integrations } = await start(['alpha', 'beta', 'gamma']);
    const { page } = await open(server.url);
    await page.keyboard.press('3');
    await page.locator('tbody tr').nth(2).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    integrations[2]?.breaker.isolate();
    await page.locator('tbody .st', { hasText: 'isolated' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('beta');
    expect((await texts(page, 'tbody a')).slice(0, 3)).toEqual(['alpha', 'beta', 'gamma']);
    // It is to be seen where the focus is.
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });

  it('[O-13] acts by the keyboard alone, and gives the focus back', async () => {
    const { server } = await start(['search']);
    const { page, troubles } = await open(server.url);
    await heading(page, 'All is well');
    const focused = () => page.evaluate('document.activeElement.textContent');
    const tabTo = async (text: string): Promise<void> => {
      for (let step = 0; step < 30 && (await focused()) !== text; step++) await page.keyboard.press('Tab');
      expect(await focused()).toBe(text);
    };
    await page.keyboard.press('3');
    await page.locator('tbody tr').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await heading(page, 'search');
    await tabTo('Isolate…');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('search');
    await tabTo('Isolate');
    await page.keyboard.press('Enter');
    await page.locator('main .st', { hasText: 'isolated' }).first().waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.locator('dialog').count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('[O-13] shows the turn of a session as a timeline that only goes on, and the calls of its history', async () => {
    const { path } = await startWorld();
    const server = await startDashboard(path);
    const { page, troubles } = await open(`${server.url}#/sessions/agent%3Amain`);
    await page.locator('.tl li').nth(4).waitFor();
    expect(new Set(await texts(page, '.tl .lbl b'))).toEqual(
      new Set(['agent:main-m3', 'kb · search', 'search · query', 'crm · update_contact', 'slack · history']),
    );
    const crm = page.locator('.tl li', { hasText: 'crm · update_contact' });
    expect(await crm.locator('.err').textContent()).toBe('1–2: transient: 503 Service Unavailable: try again later');
    const countdown = crm.locator('.cd');
    const before = await countdown.textContent();
    const bars = async () =>
      (await page.evaluate(
        `[...document.querySelectorAll('.tl .bars b')].map(({ style }) => parseFloat(style.left))`,
      )) as number[];
    const line = async () =>
      Number(await page.evaluate(`document.querySelector('.tl').style.getPropertyValue('--now')`));
    await expect.poll(() => countdown.textContent()).not.toBe(before);
    // On a busy machine what the page is told of the turn comes in steps.
    const movedWhileNowWentOn = async (): Promise<readonly number[]> => {
      const [places, now] = [await bars(), await line()];
      await expect.poll(line).toBeGreaterThan(now);
      const moved = (await bars()).map((place, index) => Math.abs(place - (places[index] ?? Number.NaN)));
      // Times are told in whole ms: by one of them a bar may be elsewhere.
      return moved.filter((by) => !(by < 0.5));
    };
    await expect.poll(movedWhileNowWentOn).toEqual([]);
    await page.getByRole('button', { name: 'Only pending' }).click();
    await expect.poll(() => page.locator('.tl li').count()).toBe(3);
    expect((await texts(page, '[aria-label=History] tbody tr')).join('\n')).toMatch(
      /turn 2.*failed.*no customer[^]*turn 1.*done/,
    );
    expect(troubles).toEqual([]);
  });

  it('[O-13] [G-14] lists dead letters of all sessions, and drops one that was confirmed by the name of its session', async () => {
    const { path } = await startWorld();
    const server = await startDashboard(path);
    const { page, troubles } = await open(`${server.url}#/letters`);
    const letters = page.locator('section[aria-label^="Dead letters"] tbody tr');
    await letters.nth(1).waitFor();
    const text = (await letters.allTextContents()).join('\n');
    expect(text).toMatch(/agent:main-m902.*cannot be read[^]*agent:main-m901.*the nightly report.*cut too often/);
    // What cannot be read cannot be sent again.
    expect(await letters.getByRole('button', { name: 'Send again…' }).count()).toBe(1);
    await letters.first().getByRole('button', { name: 'Drop…' }).click();
    await page.getByLabel('Type agent:main to confirm').fill('agent:main');
    await page.getByRole('dialog').getByRole('button', { name: 'Drop' }).click();
    await expect.poll(() => letters.count()).toBe(1);
    expect(troubles).toEqual([]);
  });

  it('[O-13] [G-14] lists the dead letters of a session on its page', async () => {
    const { path } = await startWorld();
    const server = await startDashboard(path);
    const { page, troubles } = await open(`${server.url}#/sessions/agent%3Amain`);
    const letters = page.locator('section[aria-label^="Dead letters"]');
    await letters.locator('tbody tr').nth(1).waitFor();
    expect((await letters.locator('tbody tr').allTextContents()).join('\n')).toMatch(
      /agent:main-m902[^]*agent:main-m901/,
    );
    expect(await letters.locator('th', { hasText: 'Session' }).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('[O-13] searches all that is recorded, goes back page by page, and shows what led to an event', async () => {
    const { server, call, gateway } = await start(['search']);
    await call('gateway closed (1012)');
    for (let index = 0; index < 260; index++) gateway.integration(`later-${index}`, {}, () => 'fine');
    const { page, troubles } = await open(`${server.url}#/events`);
    await page.locator('.event').nth(99).waitFor();
    const count = () => page.locator('.event').count();
    for (let pages = 0; pages < 5 && (await page.getByRole('button', { name: 'Older events' }).count()) > 0; pages++) {
      const before = await count();
      await page.getByRole('button', { name: 'Older events' }).click();
      await expect.poll(count).toBeGreaterThan(before);
    }
    const shown = await texts(page, '.event .who');
    for (let index = 0; index < 260; index++) {
      expect([index, shown.filter((each) => each === `integration:later-${index}`).length]).toEqual([index, 1]);
    }
    await page.getByLabel('Find in all events').fill('CLOSED (1012)');
    const opened = page.locator('.event', { hasText: 'breaker/opened' });
    await opened.waitFor();
    await expect.poll(() => page.url()).toContain('text=CLOSED');
    await opened.locator('summary').click();
    await opened.locator('.cause li', { hasText: 'integration/failure' }).waitFor();
    expect((await texts(page, '.cause')).join()).toContain('named as the cause');
    expect(troubles).toEqual([]);
  });
});
