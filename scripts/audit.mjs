// Asks the registry what is known against the packages that a user gets with ours: those beside it, and those built in, which `npm audit` does
// not see there. Exits 1 when one of them is to be replaced (high or critical), or has a license that a user may not want with one of MIT; says so
// where the registry answers no such questions.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const { packages } = read('package-lock.json');
const built = read('dist/bundled.cdx.json').components.map(({ group, name }) =>
  [group, name].filter(Boolean).join('/'),
);

/** As they are locked here: all of them are of this tree. */
const asked = Object.entries(packages).flatMap(([path, locked]) => {
  const isBuilt = built.some((name) => path.endsWith(`node_modules/${name}`));
  return path !== '' && (locked.dev !== true || isBuilt) ? [[path, { ...locked, dev: undefined }]] : [];
});
/** Licenses under which a package may be beside ours or in it. */
const licenses = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
]);
/** Where there are several to choose from, one of them is enough. */
const isAllowed = (license = '') =>
  license
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((each) => licenses.has(each));
const refused = asked.filter(([, { license }]) => !isAllowed(license));
for (const [path, { license }] of refused) console.log(`license: ${path}: ${license ?? 'none is named'}`);

const dependencies = Object.fromEntries(
  asked
    .filter(([path]) => path.lastIndexOf('node_modules/') === 0)
    .map(([path, { version }]) => [path.slice('node_modules/'.length), version]),
);
const manifest = { name: 'what-users-get', version: '1.0.0', private: true, dependencies };
const lock = {
  ...manifest,
  lockfileVersion: 3,
  requires: true,
  packages: { '': manifest, ...Object.fromEntries(asked) },
};

const scratch = mkdtempSync(join(tmpdir(), 'unwedge-audit-'));
try {
  writeFileSync(join(scratch, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(scratch, 'package-lock.json'), JSON.stringify(lock));
  const words = [
    'audit',
    '--package-lock-only',
    '--audit-level=high',
    '--json',
    '--fetch-retries=0',
    '--fetch-timeout=30000',
  ];
  const running = process.env.npm_execpath;
  const [file, ...first] = running === undefined ? ['npm'] : [process.execPath, running];
  const { status, stdout } = spawnSync(file, [...first, ...words], { cwd: scratch, encoding: 'utf8' });
  process.exitCode = told(status, stdout) || Math.min(1, refused.length);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function told(status, stdout) {
  const answer = parsed(stdout);
  if (answer?.vulnerabilities === undefined) {
    console.log('missing: a registry that answers what is known against packages; nothing was asked about them');
    return 0;
  }
  for (const { name, severity, via } of Object.values(answer.vulnerabilities)) {
    const titles = via.map((each) => (typeof each === 'string' ? `by way of ${each}` : `${each.title} (${each.url})`));
    console.log(`${severity}: ${name}: ${titles.join('; ')}`);
  }
  console.log(`${asked.length} packages were asked about, ${built.length} of them built in`);
  return status;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
