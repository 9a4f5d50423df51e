import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests of the command line run what users run: the built files. A build that fails fails them, not the others. */
export function setup(): void {
  const build = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url));
  try {
    execFileSync(process.execPath, [build], { stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    process.stderr.write('The build failed: see `npm run build`. Tests of the command line will fail.\n');
  }
}
