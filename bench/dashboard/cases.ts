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

/** What is compiled, and what a start leaves to do, is no part of it. */
const warmUpMs = 10_000;
const settleMs = 500;
const watchedMs = 5000;

/** Looks on while somebody looks at the page, or nobody. Records what gateway and server use meanwhile, in ms a second. */
export function watched(sessions: number, eventsPerSecond: number, viewer: Viewer): Case {
  return {
    async measure(probe) {
      await inWorld(sessions, eventsPerSecond, async (world) => {
        await pause(warmUpMs);
        await viewer(world, probe, async () => {
          const { gateway, server, events } = await useOf(world);
          probe.record('gateway cpu', gateway, 'ms');
          probe.record('server cpu', server, 'ms');
          probe.record('events', events, '/s');
        });
      });
    },
  };
}

/** Begins to look, and runs `watch` meanwhile. */
export type Viewer = (world: World, probe: Probe, watch: () => Promise<void>) => Promise<void>;

export const nobody: Viewer = (_world, _probe, watch) => watch();

/** A page of the dashboard that shows its sessions, in a browser. Records for how long it did nothing else at most, in ms. */
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
      let last = performance.now();
      setInterval(() => {
        longest = Math.max(longest, performance.now() - last - 5);
        last = performance.now();
      }, 5);
    `);
    await watch();
    probe.record('longest stall', Number(await page.evaluate('longest')), 'ms');
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
