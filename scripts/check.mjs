// Everything that is quick to say about a change: one line a step, all steps, exit 1 when one failed. `--skip NAME` leaves a step out, `--only NAME` all others.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { fileURLToPath } from 'node:url';

const { values } = parseArgs({
  options: {
    report: { type: 'string' },
    skip: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true },
  },
});
const root = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

/** What compares pages, tables, examples and names with the code. A change elsewhere often asks for one there, and no other step says so. */
const pageTests = [
  'test/package',
  'test/cli/help.test.ts',
  'test/config/scenarios',
  'test/web/serve/scenarios/page.test.ts',
  'test/cli/machines.test.ts',
  'test/proxy/api/clients.test.ts',
];

/** Name and what runs; each gives its exit code and output. */
const steps = [
  ['types', () => tool('typescript', 'tsc', '--noEmit')],
  // What runs in a browser knows another world.
  ['dash', () => tool('typescript', 'tsc', '-p', 'web/dashboard/browser')],
  ['lint', () => tool('oxlint', 'oxlint', '--type-aware', '--deny-warnings')],
  ['format', () => tool('@biomejs/biome', 'biome', 'format')],
  ['docs', () => tool('vitest', 'vitest', 'run', ...pageTests)],
  ['publint', () => packed((tarball) => tool('publint', 'publint', 'run', tarball, '--strict'))],
  ['attw', () => packed((tarball) => tool('@arethetypeswrong/cli', 'attw', tarball, '--profile', 'esm-only'))],
  ['knip', () => tool('knip', 'knip', '--no-progress')],
  ['audit', () => shown(packed(() => start(process.execPath, [join(root, 'scripts', 'audit.mjs')])))],
  ['bench', compareSpeed],
];

const unknown = [...values.skip, ...(values.only ?? [])].filter((name) => !steps.some(([step]) => step === name));
if (unknown.length > 0) {
  console.error(`Unknown step ${unknown.join(', ')}; the steps are ${steps.map(([name]) => name).join(', ')}`);
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), 'unwedge-check-'));
/** Where the package is, once it is packed. */
let tarball;
const results = [];
try {
  for (const [name, run] of steps) if (isAsked(name)) results.push(report(name, run));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const failed = results.filter(({ ok }) => !ok).map(({ name }) => name);
console.log(failed.length === 0 ? `check: all ${results.length} steps passed` : `check: failed: ${failed.join(', ')}`);
if (values.report !== undefined) {
  writeFileSync(values.report, JSON.stringify({ passed: results.length - failed.length, failed: failed.length }));
}
process.exitCode = failed.length === 0 ? 0 : 1;

function isAsked(name) {
  return !values.skip.includes(name) && (values.only?.includes(name) ?? true);
}

function report(name, run) {
  const start = performance.now();
  const { status, output, note } = run();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'}  ${name.padEnd(8)} ${seconds} s`);
  const said = status === 0 ? note : output;
  if (said !== undefined)
    console.log(
      stripVTControlCharacters(said)
        .replace(/^(?=.)/gm, '      ')
        .trimEnd(),
    );
  return { name, ok: status === 0 };
}

/** A tool of node_modules, run by this Node. */
function tool(packageName, binary, ...words) {
  const manifest = findManifest(packageName);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  return start(process.execPath, [join(dirname(manifest), typeof bin === 'string' ? bin : bin[binary]), ...words]);
}

function start(file, words, timeout) {
  const { FORCE_COLOR: _, ...env } = { ...process.env, NO_COLOR: '1' };
  const { status, stdout, stderr, error } = spawnSync(file, words, { cwd: root, env, encoding: 'utf8', timeout });
  return {
    status: error === undefined ? status : 1,
    output: [stdout, stderr, error?.message].filter(Boolean).join('\n'),
    isLate: error?.code === 'ETIMEDOUT',
  };
}

// Not every package exports its manifest.
function findManifest(packageName) {
  const found = require.resolve.paths(packageName).map((path) => join(path, packageName, 'package.json'));
  return found.find((path) => {
    try {
      return readFileSync(path) !== undefined;
    } catch {
      return false;
    }
  });
}

/** What would be published, packed once. */
function packed(judge) {
  if (tarball === undefined) {
    // Not left to `prepack`: where install scripts are switched off, so is that.
    const built = start(process.execPath, [join(root, 'scripts', 'build.mjs')]);
    if (built.status !== 0) return built;
    const made = pack();
    if (made.status !== 0) return made;
    tarball = join(scratch, made.output.trim().split('\n').at(-1));
  }
  return judge(tarball);
}

/** With what it says also where it is content. */
function shown(result) {
  return { ...result, note: result.output };
}

function pack() {
  return npm(['pack', '--silent', '--pack-destination', scratch]);
}

/**
 * Whether a call has become slower, against what was recorded. How much could be compared is said in any case; a machine that is too busy
 * to be measured on compares nothing.
 */
function compareSpeed() {
  const { status, output, isLate } = npm(['run', '--silent', 'bench', '--', '--check'], 6 * 60_000);
  if (isLate)
    return { status: 0, output, note: 'missing: a machine with time for it; no speed was compared within 6 minutes' };
  const note = output
    .split('\n')
    .filter((line) => line.startsWith('missing: ') || line.includes(' ratios compared'))
    .join('\n');
  return { status, output, note };
}

function npm(words, timeout) {
  // Started through npm it is the npm that runs already; else the one of the path.
  const running = process.env.npm_execpath;
  return running === undefined ? start('npm', words, timeout) : start(process.execPath, [running, ...words], timeout);
}
