// `npm run mutate -- ROOM`: changes the source of a room one place after the other, and says how many of the changes its tests notice.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

function fail(message) {
  process.stderr.write(`mutate: ${message}\n`);
  process.exit(2);
}

/** Node 22.18 or later, which Stryker asks for and which reads TypeScript: the running one, or that of a package beside this file. */
function newNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return process.execPath;
  const path = here(`node_modules/node-${process.platform}-${process.arch}/bin/node`);
  return existsSync(path) ? path : fail('it needs Node 22.18 or later');
}

if (!existsSync(here('node_modules/@stryker-mutator/core')))
  fail('Stryker is not installed: npm ci --ignore-scripts --prefix test/mutation');
const { status } = spawnSync(newNode(), ['--no-warnings', here('main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
