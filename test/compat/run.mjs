// `npm run compat`: packs the package, installs it as a user does, and runs it with each row of rows.mjs. Needs the registry.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { putPage } from './page.mjs';
import { putPrograms, rows } from './rows.mjs';

const usage = 'Usage: npm run compat -- [--only ID,ID...] [--json] [--write]';
const { values } = parseArgs({
  options: { only: { type: 'string' }, json: { type: 'boolean' }, write: { type: 'boolean' } },
});
const only = values.only?.split(',');
const asked = rows.filter(({ id }) => only?.includes(id) ?? true);
if (asked.length === 0 || (only !== undefined && values.write)) {
  console.error(`${usage}\nRows: ${rows.map(({ id }) => id).join(' ')}\n--write records a run of all rows`);
  process.exit(2);
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'unwedge-compat-'));
const results = [];
try {
  const tarball = await pack();
  const apps = new Map();
  for (const row of asked) results.push(await runRow(row, tarball, apps));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (values.json) console.log(JSON.stringify(results, undefined, 2));
const failed = results.filter(({ ok }) => !ok).length;
console.error(`${results.length - failed} as they should be, ${failed} not`);
if (values.write && failed === 0) putPage(results);
process.exitCode = failed === 0 ? 0 : 1;

async function runRow({ id, what, packages, works, run }, tarball, apps) {
  const from = performance.now();
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const tools = join(scratch, wanted.join('+'));
  const result = { id, with: '', what, works, ok: true, note: '' };
  try {
    if (!existsSync(tools)) {
      await project(tools);
      await npm(tools, ['install', ...wanted]);
    }
    result.with = Object.keys(packages)
      .map(
        (name) =>
          `${name} ${JSON.parse(readFileSync(join(tools, 'node_modules', name, 'package.json'), 'utf8')).version}`,
      )
      .join(', ');
    const app = (kind) => {
      if (!apps.has(kind)) apps.set(kind, makeApp(kind, tarball, tools));
      return apps.get(kind);
    };
    result.note = await run({ tools, app, start });
  } catch (error) {
    Object.assign(result, { ok: false, note: error.message });
  }
  const seconds = Math.round((performance.now() - from) / 1000);
  console.error(
    `${result.ok ? 'ok  ' : 'FAIL'} ${id.padEnd(24)} ${String(seconds).padStart(4)} s  ${result.with}; ${result.note}`,
  );
  return result;
}

/** A project of a user with the package in it: by npm, with its install scripts run, or by pnpm. */
async function makeApp(kind, tarball, tools) {
  const cwd = join(scratch, `app-${kind}`);
  await project(cwd);
  const words = [tarball, '@types/node@20', '@opentelemetry/api@1'];
  if (kind === 'pnpm') {
    const pnpm = join(tools, 'node_modules/.bin/pnpm');
    await must(pnpm, ['add', '--ignore-scripts', '--store-dir', join(scratch, 'store'), ...words], { cwd });
  } else await npm(cwd, ['install', ...(kind === 'npm' ? ['--ignore-scripts'] : []), ...words]);
  putPrograms(cwd);
  return cwd;
}

async function project(cwd) {
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }));
}

async function pack() {
  await must(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root });
  await npm(root, ['pack', '--ignore-scripts', '--silent', '--pack-destination', scratch]);
  return join(
    scratch,
    readdirSync(scratch).find((name) => name.endsWith('.tgz')),
  );
}

function npm(cwd, words) {
  return must('npm', [...words, '--no-audit', '--no-fund', '--loglevel', 'error'], { cwd });
}

async function must(file, words, options) {
  const { code, out } = await start(file, words, options);
  if (code !== 0) throw new Error(out.trim().split('\n').slice(-20).join('\n'));
}

/** @param {{ cwd: string, node?: string }} options - `node` is the one that programs find on the PATH */
function start(file, words, { cwd, node = process.execPath }) {
  const { FORCE_COLOR: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const env = { ...inherited, NO_COLOR: '1', PATH: [dirname(node), inherited.PATH].join(delimiter) };
  return new Promise((resolve, reject) => {
    const child = spawn(file, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 10 * 60_000 });
    let out = '';
    child.stdout.on('data', (bytes) => (out += bytes));
    child.stderr.on('data', (bytes) => (out += bytes));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, out }));
  });
}
