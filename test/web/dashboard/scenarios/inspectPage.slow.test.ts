import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type Gateway } from '../../../../src/index.ts';
import { inspectWithStately } from '../../../../web/dashboard/index.ts';
import { inspectionOf } from '../../../../src/inspector/inspection.ts';
import { startInspectorServer } from '../../../../web/dashboard/inspectServer.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { chromiumPath, useBrowser } from '../../../support/browser.ts';

if (chromiumPath === undefined)
  process.stderr.write('missing: chromium; the page of `unwedge inspect` was looked at by nobody\n');

async function settled<T>(clock: SimulatedClock, promise: Promise<T>): Promise<T> {
  let done = false;
  void promise.finally(() => (done = true));
  while (!done) await clock.settle();
  return promise;
}

/** A gateway on simulated time: one integration whose circuit opens on the first failure, and one session. */
async function startGateway(name = 'search') {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock });
  const world = { isUp: true };
  const policy = { breaker: { consecutiveFailures: 1, resetTimeoutMs: 1000 }, retry: { maxAttempts: 1 } };
  const search = gateway.integration(name, { policy }, () => {
    if (!world.isUp) throw Object.assign(new Error('down'), { status: 503 });
    return 'found';
  });
  gateway.session('agent:main', { onMessage: () => undefined });
  await settled(clock, gateway.start());
  onTestFinished(() => settled(clock, gateway.stop()));
  const call = (isUp: boolean) => {
    world.isUp = isUp;
    return settled(clock, search.call(undefined));
  };
  return { gateway, clock, search, call, stop: () => settled(clock, gateway.stop()) };
}

async function urlOf(gateway: Gateway): Promise<string> {
  const inspector = await inspectWithStately(gateway);
  onTestFinished(() => inspector.close());
  return inspector.url;
}

const isIn = (page: Page, state: string) => page.locator(`.chart [data-state="${state}"].lit`).waitFor();
const state = (page: Page) => texts(page, '.now');
const texts = (page: Page, selector: string) => page.locator(selector).allTextContents();
const isLive = (page: Page) => page.locator('.live[data-link=live]').waitFor();

describe.skipIf(chromiumPath === undefined)('the page of one gateway, in a browser', () => {
  const open = useBrowser();

  it('[U-2] draws the six states of an integration and shows it going to open, half-open and idle', async () => {
    const { gateway, clock, call } = await startGateway();
    const { page, troubles } = await open(await urlOf(gateway));
    await isIn(page, 'idle');
    expect((await texts(page, '.chart .box-of text')).sort()).toEqual(
      ['any state', 'backoff', 'calling', 'crashed', 'half-open', 'idle', 'open'].sort(),
    );
    await call(false);
    await isIn(page, 'open');
    await expect.poll(() => state(page)).toEqual(['open']);
    await expect.poll(() => texts(page, 'tr.sel td >> nth=1')).toEqual(['attempt.failed [opensCircuit]']);
    expect(await page.locator('.chart path.took').getAttribute('data-arrow')).toBe('calling open');
    await page.locator('tr.sel').hover();
    expect(await page.locator('tr.sel').textContent()).toContain('calling');
    await clock.advance(1000);
    await call(false);
    await page.locator('.events li', { hasText: 'open → half-open' }).waitFor();
    await isIn(page, 'open');
    await expect.poll(() => texts(page, '.last')).toEqual(['attempt.failed half-open → open']);
    await clock.advance(1000);
    await call(true);
    await isIn(page, 'idle');
    expect(troubles).toEqual([]);
  });

  it('[O-6] lists what happens, the latest first, with the event, its actor and what came of it', async () => {
    const { gateway, call } = await startGateway();
    const { page } = await open(await urlOf(gateway));
    await isLive(page);
    await call(false);
    await page.locator('.events li', { hasText: 'attempt.failed' }).waitFor();
    expect(await texts(page, '.events li >> nth=0 >> css=summary > :not(time)')).toEqual([
      'attempt.failed',
      'search',
      'calling → open',
    ]);
    await page.locator('.events li >> nth=0 >> css=summary').click();
    await expect.poll(async () => (await texts(page, '.events pre'))[0] ?? '').not.toBe('');
    expect(JSON.parse((await texts(page, '.events pre'))[0] ?? '')).toMatchObject({ type: 'attempt.failed' });
  });

  it('[O-6] shows the actors as a tree with their states, to be chosen with the keyboard', async () => {
    const { gateway } = await startGateway();
    const { page } = await open(await urlOf(gateway));
    await isIn(page, 'idle');
    expect(await texts(page, '.actors > ul > li > button')).toEqual(['root']);
    expect(await texts(page, '.actors ul ul > li > button')).toEqual([
      'integrationsearchidle',
      'sessionagent:mainidle',
    ]);
    await page.locator('.actors button').first().focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    await page.locator('h2', { hasText: 'session:agent:main' }).waitFor();
    expect(await texts(page, '.chart .box-of text')).toContain('releasing');
    expect(await texts(page, '.actors [aria-current=true]')).toEqual(['sessionagent:mainidle']);
  });

  it('[O-6] shows every region of a nested state, and an actor that has ended', async () => {
    const gateway = createGateway();
    const forever = ['-e', 'setInterval(() => {}, 1e6)'];
    const node = gateway.subprocess('node', { command: process.execPath, args: forever, graceMs: 100 });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    const { page } = await open(await urlOf(gateway));
    await isLive(page);
    const given = new AbortController();
    const ran = node.call({}, { signal: given.signal });
    const run = page.locator('.actors button', { hasText: 'running' });
    await run.click();
    await isIn(page, 'running');
    for (const state of ['running.volume', 'running.silence', 'running.silence.unlimited', 'running.overall'])
      await isIn(page, state);
    given.abort();
    await ran;
    await page.locator('.actors li.over > button[aria-current=true]', { hasText: 'exited' }).waitFor();
    expect(await texts(page, '.chart .lit text')).toEqual(['exited']);
  });

  it('[O-6] keeps what is shown while it is paused, and catches up', async () => {
    const { gateway, call } = await startGateway();
    const { page } = await open(await urlOf(gateway));
    await isIn(page, 'idle');
    await page.keyboard.press('p');
    await page.locator('.live[aria-pressed=true]').waitFor();
    await call(false);
    await page.locator('.live', { hasText: /Paused, \d+ new/ }).waitFor();
    expect(await state(page)).toEqual(['idle']);
    await page.locator('.live').click();
    await isIn(page, 'open');
  });

  it('[O-6] shows only the events asked for', async () => {
    const { gateway, call } = await startGateway();
    const { page } = await open(await urlOf(gateway));
    await isLive(page);
    await call(false);
    await gateway.session('agent:main').send({ kind: 'user', data: 1 });
    await page.locator('.events li', { hasText: 'message.arrived' }).waitFor();
    await page.locator('#find').fill('calling → open');
    expect(await texts(page, '.events summary .mono.cut')).toEqual(['attempt.failed']);
    await page.locator('#find').fill('');
    await page.getByLabel('this actor').check();
    expect(new Set(await texts(page, '.events .who'))).toEqual(new Set(['search']));
  });

  it('[O-6] shows who comes late what is there now', async () => {
    const { gateway, call } = await startGateway();
    const url = await urlOf(gateway);
    await call(false);
    const { page } = await open(url);
    await isIn(page, 'open');
    expect(await texts(page, '.events li')).toEqual([]);
  });

  it('[O-6] says that the gateway has stopped', async () => {
    const { gateway, stop } = await startGateway();
    const { page, troubles } = await open(await urlOf(gateway));
    await isLive(page);
    await stop();
    await page.locator('.live[data-link=ended]').waitFor();
    expect(await texts(page, '.events li.warn')).toEqual(['The gateway has stopped.']);
    expect(troubles).toEqual([]);
  });

  it('[O-8] takes names for text, whatever is in them', async () => {
    const name = '<img src=x onerror="document.title=1">';
    const { gateway, call } = await startGateway(name);
    const { page, troubles } = await open(await urlOf(gateway));
    await isIn(page, 'idle');
    await call(false);
    await page.locator('.events .who', { hasText: name }).first().waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect([await page.title(), troubles]).toEqual(['unwedge inspect', []]);
  });

  it.each(['light', 'dark'] as const)('[O-6] has room for everything at 1000 px, in %s', async (colorScheme) => {
    const { gateway } = await startGateway();
    const { page } = await open(await urlOf(gateway), { viewport: { width: 1000, height: 700 }, colorScheme });
    await isIn(page, 'idle');
    for (const part of ['html', '.actors', '.events']) {
      const overflow = await page.locator(part).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      expect([part, overflow]).toEqual([part, 0]);
    }
    // Smaller than it can be read it is not drawn: then it is scrolled to, within its own place.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.chart')).overflowX")).toBe('auto');
  });

  it('[O-6] hands frames to the official page only once the person has agreed', async () => {
    const asked: (string | undefined)[] = [];
    const stub = createServer((request, response) => {
      asked.push(request.headers.referer);
      response.setHeader('Content-Type', 'text/html');
      response.end(`<p id="heard"></p><script>
        addEventListener('message', ({ data }) => { document.getElementById('heard').append(data.type + ' ' + data.name + '; '); });
        parent.postMessage({ type: '@statelyai.connected' }, '*');
      </script>`);
    });
    await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void stub.close());
    const { gateway, clock } = await startGateway();
    const stately = `http://127.0.0.1:${(stub.address() as AddressInfo).port}/inspect`;
    const frames = inspectionOf(gateway);
    if (frames === undefined) throw new Error('no frames');
    const server = await startInspectorServer({ clock, open: () => frames.open(), stately });
    onTestFinished(() => server.close());
    const { page, troubles } = await open(server.url);
    expect(await page.locator('#notice').textContent()).toContain('third party');
    expect([asked, frames.viewers]).toEqual([[], 0]);
    await page.getByRole('button', { name: 'Open it' }).click();
    const heard = page.frameLocator('#inner').locator('#heard');
    await heard.getByText('integration:search').waitFor();
    expect(await heard.textContent()).not.toContain('unwedge.');
    expect([asked[0], troubles.filter((trouble) => !trouble.includes('favicon'))]).toEqual([undefined, []]);
  });
});
