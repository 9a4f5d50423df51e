import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Case } from '../harness/suite.ts';
import { type CommandLine, inNewHome, memoryOf } from './processes.ts';

/**
 * All output of a command comes through a pipe that is read as fast as it fills. Records the time to the end, and on Linux the
 * most memory the process held, half of the output in and at its end.
 * @param lineOf - puts a command line behind what passes its output on.
 */
export function passOutput(lineOf: (...command: string[]) => CommandLine, bytes: number): Case {
  return {
    long: true,
    measure: (probe) =>
      inNewHome(async (env) => {
        const start = performance.now();
        const [program, ...words] = lineOf('head', '-c', String(bytes), '/dev/zero');
        const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
        let seen = 0;
        let early: number | undefined;
        let late: number | undefined;
        child.stdout.on('data', (chunk: Buffer) => {
          seen += chunk.length;
          if (seen >= bytes / 2) early ??= memoryOf(child.pid ?? 0, 'VmHWM');
          if (seen === bytes) late = memoryOf(child.pid ?? 0, 'VmHWM');
        });
        const [code] = (await once(child, 'close')) as [number | null];
        if (code !== 0 || seen !== bytes) throw new Error(`${seen} of ${bytes} bytes came, exit code ${code}`);
        probe.record('wall', performance.now() - start, 'ms');
        if (early === undefined || late === undefined) return;
        probe.record('peak memory', late, 'B');
        probe.record('peak memory, end/half', late / early, '');
      }),
  };
}
