import { existsSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';

/** Where Chromium is on this machine; undefined when it is not. */
export const chromiumPath = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

/** A browser for the tests of a file. `open` gives a page that fails its test when it logs an error or asks anybody but loopback. */
export function useBrowser() {
  let browser: Browser | undefined;
  beforeAll(async () => {
    // In a container of a superuser its sandbox cannot start.
    browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  });
  afterAll(() => browser?.close());
  return async (url: string, options: BrowserContextOptions = {}): Promise<{ page: Page; troubles: string[] }> => {
    if (browser === undefined) throw new Error('The browser is not there');
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on('pageerror', (error) => troubles.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') troubles.push(message.text());
    });
    page.on('request', (request) => {
      const { hostname, protocol } = new URL(request.url());
      if (protocol !== 'data:' && hostname !== '127.0.0.1') troubles.push(`asked ${request.url()}`);
    });
    await page.goto(url);
    return { page, troubles };
  };
}
