// Builds dist/ from the source: types with tsc, what runs in bundles; does nothing when dist is newer than every source.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeApiIndex } from './apiIndex.mjs';
import { bundlePackage } from './bundle.mjs';
import { leanTypes } from './leanTypes.mjs';
import { tops } from './rooms.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const entry = join('cli', 'main.js');
const started = new Date();

const inputs = [...tops, 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) =>
  newest(join(root, name)),
);
if (process.argv.includes('--force') || builtAt() < Math.max(...inputs)) await build();

function builtAt() {
  return statSync(join(dist, entry), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

// The time of a directory tells of files that were removed.
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Into a directory of its own, put in place at the end: a failed build leaves the last good one, and two at once do not mix. */
async function build() {
  const fresh = mkdtempSync(join(root, '.build-'));
  try {
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
    const words = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(fresh, 'types')];
    execFileSync(process.execPath, words, { stdio: 'inherit' });
    removeUnreachable(join(fresh, 'types'));
    writeApiIndex(fresh);
    await bundlePackage(fresh);
    writeConfigSchema(fresh);
    chmodSync(fresh, 0o755);
    // What was edited while the compiler ran is newer than this.
    utimesSync(join(fresh, entry), started, started);
    swap(fresh);
  } catch (error) {
    if (error.status === undefined) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Declarations that no entry leads to: nobody can import what they are of. */
function removeUnreachable(tree) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  leanTypes(
    tree,
    Object.values(exports).flatMap(({ types }) => types?.replace('./dist/types/', '') ?? []),
  );
  for (const { name, parentPath } of readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .reverse()) {
    if (readdirSync(join(parentPath, name)).length === 0) rmdirSync(join(parentPath, name));
  }
}

/** The JSON schema of a configuration file, for editors. */
function writeConfigSchema(tree) {
  // What it imports by `#name` is of this tree, and not of an earlier one.
  const own = join(tree, 'package.json');
  writeFileSync(own, readFileSync(join(root, 'package.json'), 'utf8').replaceAll('"./dist/', '"./'));
  writeFileSync(
    join(tree, 'config.schema.json'),
    // As short as it can be: editors read it.
    JSON.stringify(JSON.parse(String(execFileSync(process.execPath, [join(tree, entry), 'config', '--schema'])))),
  );
  rmSync(own);
}

function swap(fresh) {
  const old = `${fresh}-old`;
  try {
    renameSync(dist, old);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  try {
    renameSync(fresh, dist);
  } catch (error) {
    // Another build was faster; its result is as good.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  }
  rmSync(old, { recursive: true, force: true });
}
