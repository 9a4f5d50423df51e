import { existsSync } from 'node:fs';
import type { Probe } from '../harness/probe.ts';
import type { Case } from '../harness/suite.ts';
import { inWorld, type World } from './world.ts';

/** Where Chromium is on this machine; undefined when it is not. */
export const chromiumPath = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

const settleMs = 1500;
const watchedMs = 5000;

/** Looks on. Records what gateway and server use, in ms a second, and the share of that which a viewer adds. */
export function watched(sessions: number, eventsPerSecond: number, viewer: Viewer): Case {
  return {
    async measure(probe) {
      await inWorld(sessions, eventsPerSecond, async (world) => {
        const alone = await useOf(world);
        await viewer(world, probe, async () => {
          const viewed = await useOf(world);
          probe.record('gateway cpu', viewed.gateway, 'ms');
          probe.record('server cpu', viewed.server, 'ms');
          probe.record('gateway cpu over unviewed', viewed.gateway / alone.gateway, '');
          probe.record('events', viewed.events, '/s');
        });
      });
    },
  };
}

/** Begins to look, and runs `watch` meanwhile. */
export type Viewer = (world: World, probe: Probe, watch: () => Promise<void>) => Promise<void>;

export const nobody: Viewer = (_world, _probe, watch) => watch();

/** A page of the dashboard that shows its sessions, in a browser. Records its longest task, in ms. */
export const inChromium: Viewer = async ({ url }, probe, watch) => {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.locator('.live[data-link=live]').waitFor();
    await page.evaluate("location.hash = '#/sessions'");
    await page.locator('tbody tr').first().waitFor();
    await page.evaluate(`
      globalThis.longest = 0;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) longest = Math.max(longest, duration);
      }).observe({ type: 'longtask' });
    `);
    await watch();
    probe.record('longest task', Number(await page.evaluate('longest')), 'ms');
  } finally {
    await browser.close();
  }
};

async function useOf(
  world: World,
): Promise<{ readonly gateway: number; readonly server: number; readonly events: number }> {
  await pause(settleMs);
  const [before, told, from] = [await world.used(), await world.told(), performance.now()];
  await pause(watchedMs);
  const [after, toldAfter] = [await world.used(), await world.told()];
  const seconds = (performance.now() - from) / 1000;
  return {
    gateway: (after.gatewayMs - before.gatewayMs) / seconds,
    server: (after.serverMs - before.serverMs) / seconds,
    events: (toldAfter - told) / seconds,
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
