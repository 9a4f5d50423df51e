// The pictures of the site, made again from the programs themselves: `npm run screenshots`. The dashboard is that of
// exampleGateway.mjs; what the fault tour prints becomes an SVG. They are in docs/pictures. Needs Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { smallPicture } from './smallPicture.mjs';
import { terminalPicture } from './terminalPicture.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const pictures = join(root, 'docs/pictures');
const browserPath = [process.env.CHROMIUM_PATH, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);
if (browserPath === undefined) {
  console.error('screenshots: no Chromium; install it, or say where it is in CHROMIUM_PATH');
  process.exit(1);
}

const scratch = mkdtempSync(join(tmpdir(), 'unwedge-screenshots-'));
const db = join(scratch, 'gateway.sqlite');
mkdirSync(pictures, { recursive: true });
/** Calls of the last minutes are written once a minute; the page shows what is written. */
const loadMs = 130_000;

const children = [];
try {
  const printed = await outputOf(start(['dist/cli/main.js', 'demo']));
  writeFileSync(join(pictures, 'tour.svg'), terminalPicture('npx unwedge demo', printed));
  start(['scripts/exampleGateway.mjs', db]);
  await new Promise((resolve) => setTimeout(resolve, loadMs));
  await showDashboard(await urlFrom(start(['dist/cli/main.js', 'dashboard', '--db', db])));
} finally {
  for (const child of children) child.kill();
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`screenshots: ${pictures}`);

function start(words) {
  const env = { ...process.env, NO_COLOR: '1', COLUMNS: '110' };
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  children.push(child);
  return child;
}

async function outputOf(child) {
  let printed = '';
  child.stdout.on('data', (bytes) => (printed += bytes));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The tour did not end well; a machine too busy is a reason:\n${printed}`);
  return printed;
}

/** The address that the dashboard says it has. */
async function urlFrom(child) {
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('The dashboard ended without an address');
}

async function showDashboard(url) {
  // In a container of a superuser its sandbox cannot start.
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1200, height: 760 } });
    await page.goto(url);
    await page.getByText('payments').first().waitFor({ timeout: 60_000 });
    // Until the page has drawn what it just heard.
    await page.waitForTimeout(3000);
    const picture = await page.screenshot();
    writeFileSync(join(pictures, 'dashboard.png'), await smallPicture(await browser.newPage(), picture));
  } finally {
    await browser.close();
  }
}
