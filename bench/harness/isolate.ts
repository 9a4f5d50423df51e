import { fork } from 'node:child_process';
import type { Reading } from './probe.ts';

const child = new URL('./isolated.js', import.meta.url);

/** Runs one case in a process of its own, whose collector is set as Node sets it but for `flags`. @throws Error naming the case when that process fails */
export function isolate(
  suite: string,
  subject: string,
  of: string,
  flags: readonly string[],
): Promise<readonly Reading[]> {
  return new Promise((resolve, reject) => {
    let readings: readonly Reading[] | undefined;
    const forked = fork(child, [suite, subject, of], { execArgv: ['--expose-gc', ...flags] });
    forked.once('message', (message) => {
      readings = message as readonly Reading[];
    });
    forked.once('error', reject);
    forked.once('exit', (code, signal) => {
      if (readings !== undefined && code === 0) resolve(readings);
      else reject(new Error(`Case \`${of}\` of \`${subject}\` in suite \`${suite}\` ended with ${signal ?? code}`));
    });
  });
}
