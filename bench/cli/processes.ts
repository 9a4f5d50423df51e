import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quantile } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';

/** A program and its arguments. */
export type CommandLine = readonly [program: string, ...words: string[]];

const root = new URL('../../../', import.meta.url);
let built = false;

/** The built command line, as whoever has installed it starts it; built first when a source is newer. */
export function unwedge(...words: string[]): CommandLine {
  if (!built) execFileSync(process.execPath, [fileURLToPath(new URL('scripts/build.mjs', root))], { stdio: 'inherit' });
  built = true;
  return [process.execPath, fileURLToPath(new URL('dist/cli/main.js', root)), ...words];
}

/** In a turn of its own for every subject, so many processes of a case start one after the other. */
const runs = 16;

/**
 * From the start of a process to its end, as who waits for it sees it. With several command lines a run is all of them, one after
 * the other. Records the fastest run of the round and the middle one, and on Linux the CPU time of one, of all its processes.
 * @param linesOf - gets the number of the run.
 */
export function startToEnd(linesOf: (run: number) => readonly CommandLine[]): Case {
  return {
    measure: (probe) =>
      inNewHome(async (env) => {
        const samples: number[] = [];
        const before = childrenCpuMs();
        for (let run = 0; run < runs; run++) {
          const lines = linesOf(run);
          const start = performance.now();
          for (const line of lines) await runToEnd(line, env);
          samples.push(performance.now() - start);
        }
        const after = childrenCpuMs();
        if (before !== undefined && after !== undefined) probe.record('cpu', (after - before) / runs, 'ms');
        probe.record('fastest', quantile(samples, 0), 'ms');
        probe.record('middle', quantile(samples, 0.5), 'ms');
      }),
  };
}

/** CPU time of the processes that were started here and have ended, with theirs, in steps of 10 ms; undefined where the system does not say. */
function childrenCpuMs(): number | undefined {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
      .map(Number);
    return (user + system) * 10;
  } catch {
    return undefined;
  }
}

/** A place of its own for what a command line keeps, gone afterwards. */
export async function inNewHome<T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
  try {
    // Node reads such certificates at each start, which flatters every ratio.
    const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
    return await work({ ...env, HOME: home, UNWEDGE_DB: join(home, 'runs.sqlite') });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function runToEnd([program, ...words]: CommandLine, env: NodeJS.ProcessEnv): Promise<void> {
  const child = spawn(program, words, { stdio: 'ignore', env });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`\`${[program, ...words].join(' ')}\` ended with ${signal ?? code}`);
}
