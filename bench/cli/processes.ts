import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Probe } from '../harness/probe.ts';
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
        const before = cpuMs('self', 'children');
        for (let run = 0; run < runs; run++) {
          const lines = linesOf(run);
          const start = performance.now();
          for (const line of lines) await runToEnd(line, env);
          samples.push(performance.now() - start);
        }
        const after = cpuMs('self', 'children');
        if (before !== undefined && after !== undefined) probe.record('cpu', (after - before) / runs, 'ms');
        probe.record('fastest', quantile(samples, 0), 'ms');
        probe.record('middle', quantile(samples, 0.5), 'ms');
      }),
  };
}

/**
 * CPU time of a process, or of those that it started and that have ended, with theirs, in steps of 10 ms; undefined where the system does not say.
 */
function cpuMs(pid: number | 'self', of: 'itself' | 'children'): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const from = of === 'itself' ? 11 : 13;
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(from, from + 2)
      .map(Number);
    return (user + system) * 10;
  } catch {
    return undefined;
  }
}

/** CPU time of a process and of those that it has started and that run, in ms; undefined where the system does not say. */
function cpuWithChildren(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').map(Number);
    return [pid, ...children].reduce((sum, each) => sum + (cpuMs(each, 'itself') ?? 0), 0);
  } catch {
    return undefined;
  }
}

/**
 * Has something done, and records what processes and their children spend on it meanwhile, in µs of CPU for each of `count` things; Linux only.
 * @param pids - by the name of the figure.
 */
export async function withCpu<T>(
  probe: Probe,
  pids: Readonly<Record<string, number>>,
  count: number,
  work: () => Promise<T>,
): Promise<T> {
  const spent = (): (number | undefined)[] => Object.values(pids).map(cpuWithChildren);
  const before = spent();
  const result = await work();
  const after = spent();
  for (const [at, metric] of Object.keys(pids).entries()) {
    const [from, to] = [before[at], after[at]];
    if (from !== undefined && to !== undefined) probe.record(metric, ((to - from) * 1000) / count, 'µs');
  }
  return result;
}

/** The memory that a process holds (`VmRSS`), or the most that it has held (`VmHWM`), in bytes; undefined where the system does not say. */
export function memoryOf(pid: number, which: 'VmRSS' | 'VmHWM'): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(new RegExp(`^${which}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
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
