import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A process as it was seen once. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** The process group it belongs to, by the pid of its leader. */
  readonly group: number;
  /** The session it belongs to, by the pid of its leader; 0 where the system does not tell. */
  readonly session: number;
  /** Opaque; tells a process from a later one that was given the same pid. */
  readonly startTime: string;
  /** Dead and waiting to be reaped: it neither runs nor can be killed. */
  readonly zombie: boolean;
  /** Stopped by SIGSTOP or a debugger: it does nothing until it is told to go on. @defaultValue false */
  readonly stopped?: boolean | undefined;
}

// Not execa: what wraps a hook walks the table too, and loading execa takes longer than the hook.
const runFile = (file: string, args: readonly string[], options: ReturnType<typeof psOptions>) =>
  promisify(childProcessModule().execFile)(file, args, options);
// Start times are dates as the locale and time zone have them; those of two processes that compare them may differ.
const psOptions = () =>
  ({ encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }) as const;
const psArguments = ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='];

/**
 * All processes of the machine, as seen by a walk that began after this call. Calls that come while a walk is under way
 * share the next one, so ending a thousand children costs two walks. Never rejects; empty where the system cannot be asked.
 */
export function listProcesses(): Promise<readonly ProcessEntry[]> {
  if (running === undefined) {
    running = walk().finally(() => {
      running = undefined;
    });
    return running;
  }
  waiting ??= running.then(() => {
    waiting = undefined;
    return listProcesses();
  });
  return waiting;
}

let running: Promise<readonly ProcessEntry[]> | undefined;
let waiting: Promise<readonly ProcessEntry[]> | undefined;

/**
 * Number of processes that are read in one turn of the event loop, within a millisecond or two: text that the kernel makes up as it is read is read ten times
 * as fast here as by the threads that serve the disk.
 */
export const pidsOfATurn = 64;

async function walk(): Promise<readonly ProcessEntry[]> {
  try {
    if (process.platform !== 'linux') return parsePs((await runFile('ps', psArguments, psOptions())).stdout);
    return await readInTurns(readdirSync('/proc').filter(isPid));
  } catch {
    return [];
  }
}

async function readInTurns(pids: readonly string[]): Promise<readonly ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  for (let at = 0; at < pids.length; at += pidsOfATurn) {
    if (at > 0) await nextTurn();
    for (const pid of pids.slice(at, at + pidsOfATurn)) {
      const entry = readStat(pid);
      if (entry !== undefined) entries.push(entry);
    }
  }
  return entries;
}

/** In this time no machine gives out every pid there is, in s. */
const pidsLastFor = 5;

/**
 * The processes that began after this one. For a process that is young itself that is a short look: pids are given out in turn,
 * unless they have begun anew since. Linux only. Never rejects.
 */
export async function listYoungerProcesses(): Promise<readonly ProcessEntry[]> {
  const since = Number(readProcessNow(process.pid)?.startTime ?? 0);
  const entries = isYoung() ? await readYounger() : await listProcesses();
  return entries.filter(({ pid, startTime }) => pid !== process.pid && Number(startTime) >= since);
}

async function readYounger(): Promise<readonly ProcessEntry[]> {
  try {
    return await readInTurns(readdirSync('/proc').filter((name) => isPid(name) && Number(name) > process.pid));
  } catch {
    return [];
  }
}

const isYoung = (): boolean => (lastPidNow() ?? 0) >= process.pid;

/**
 * Tells whether no process has begun since this one, which then has no descendants: one short read in place of a walk. Only while this process is young is
 * that ever known. Linux only. Never throws.
 */
export function isYoungestNow(pid: number): boolean {
  return lastPidNow() === pid;
}

/** The pid that was given out last, to a process or a thread; undefined once pids may have begun anew. */
function lastPidNow(): number | undefined {
  if (process.platform !== 'linux' || process.uptime() > pidsLastFor) return undefined;
  try {
    return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
  } catch {
    return undefined;
  }
}

/** As {@link listProcesses}, at once and blocking. Never throws. */
export function listProcessesNow(): readonly ProcessEntry[] {
  try {
    if (process.platform !== 'linux') return parsePs(childProcessModule().execFileSync('ps', psArguments, psOptions()));
    return readdirSync('/proc')
      .filter(isPid)
      .map(readStat)
      .filter((entry) => entry !== undefined);
  } catch {
    return [];
  }
}

/** Reads one process, at once and blocking; undefined when it is not there. Linux only. Never throws. */
export function readProcessNow(pid: number): ProcessEntry | undefined {
  return readStat(String(pid));
}

function readStat(pid: string): ProcessEntry | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    // It ended between the listing and the reading.
    return undefined;
  }
}

const isPid = (name: string): boolean => /^\d+$/.test(name);

/** Parses one `/proc/PID/stat`; undefined when it is not one. */
export function parseStat(stat: string): ProcessEntry | undefined {
  // The name in parentheses is the program's own choice: it may hold spaces and parentheses.
  const nameEnd = stat.lastIndexOf(')');
  const [state, parent, group, session, ...rest] = stat.slice(nameEnd + 2).split(' ');
  const startTime = rest[15];
  if (nameEnd < 0 || state === undefined || startTime === undefined) return undefined;
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    startTime,
    zombie: state === 'Z' || state === 'X',
    ...(/^t/i.test(state) && { stopped: true }),
  };
}

/** The output of `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`; lines of another form are skipped. */
export function parsePs(output: string): readonly ProcessEntry[] {
  return output.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)/.exec(line);
    if (match === null) return [];
    const [, pid, parent, group, stat = '', startTime = ''] = match;
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        startTime,
        zombie: stat.startsWith('Z'),
        ...(/^t/i.test(stat) && { stopped: true }),
      },
    ];
  });
}

/** Node's module of processes, loaded at its first use: that takes as long as a quarter of xstate, and most hosts start no process. */
export const childProcessModule = (): typeof import('node:child_process') =>
  process.getBuiltinModule('node:child_process');
