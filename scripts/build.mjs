// Builds dist/ from src/ with tsc; skips the work when dist is newer than every source.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const stamp = join(root, 'dist', 'cli', 'main.js');

function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const inputs = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => newest(join(root, name)));
if (process.argv.includes('--force') || !existsSync(stamp) || statSync(stamp).mtimeMs < Math.max(...inputs)) {
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  const require = createRequire(import.meta.url);
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
  chmodSync(stamp, 0o755);
}
