import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { execa, execaSync } from 'execa';

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
}

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

async function walk(): Promise<readonly ProcessEntry[]> {
  try {
    if (process.platform !== 'linux') return parsePs((await execa('ps', psArguments)).stdout);
    const pids = (await readdir('/proc')).filter(isPid);
    const entries = await Promise.all(
      pids.map(async (pid) => parseStat(await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => ''))),
    );
    return entries.filter((entry) => entry !== undefined);
  } catch {
    return [];
  }
}

/** As {@link listProcesses}, at once and blocking. Never throws. */
export function listProcessesNow(): readonly ProcessEntry[] {
  try {
    if (process.platform !== 'linux') return parsePs(execaSync('ps', psArguments).stdout);
    return readdirSync('/proc')
      .filter(isPid)
      .map(readStat)
      .filter((entry) => entry !== undefined);
  } catch {
    return [];
  }
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

/** One `/proc/PID/stat`; undefined when it is not one. */
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
      },
    ];
  });
}
