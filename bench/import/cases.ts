import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Case } from '../harness/suite.ts';

/** Processes in a round; the fastest counts. */
const processes = 8;
const program = fileURLToPath(new URL('./timed.js', import.meta.url));

interface Taken {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly heapBytes: number;
}

/**
 * Imports a module in new processes, as Node starts them, and does `then` with it. Records the least time it takes after the start of Node,
 * and the memory it holds.
 */
export function importsIn(url: string, then: 'nothing' | 'call' = 'nothing'): Case {
  return {
    measure(probe) {
      const runs = Array.from({ length: processes }, () => timed(url, then));
      probe.record('wall', Math.min(...runs.map(({ wallMs }) => wallMs)), 'ms');
      probe.record('cpu', Math.min(...runs.map(({ cpuMs }) => cpuMs)), 'ms');
      probe.record('heap', Math.min(...runs.map(({ heapBytes }) => heapBytes)) / 1000, 'kB');
    },
  };
}

function timed(url: string, then: string): Taken {
  const env = { PATH: process.env['PATH'] };
  return JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', program, url, then], { encoding: 'utf8', env }),
  ) as Taken;
}
