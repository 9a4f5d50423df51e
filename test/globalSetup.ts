import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests of the command line run what users run: the built files. */
export function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))], {
    stdio: 'inherit',
  });
}
