import { readFileSync, readlinkSync } from 'node:fs';
import { listProcesses, type ProcessEntry, readProcessNow } from './processTable.ts';

/** The processes as of now. Never rejects; without entries where the system cannot be asked. */
export async function seeWorld(): Promise<ProcessWorld> {
  return {
    entries: await listProcesses(),
    boot: orNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: orNothing(() => readlinkSync('/proc/self/ns/pid')),
  };
}

function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/**
 * The world as of now as far as these processes and our own go, at once: reading them takes microseconds each, where a walk over all takes
 * long on a busy machine. Undefined where it takes a walk. Never throws.
 */
export function seeNow(pids: readonly number[]): ProcessWorld | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const entries = [process.pid, ...pids].map(readProcessNow).filter((entry) => entry !== undefined);
    return { entries, boot, namespace: readlinkSync('/proc/self/ns/pid') };
  } catch {
    return undefined;
  }
}

/** As {@link identify} in the world as of now, at once and blocking; undefined where that takes a walk. Never throws. */
export function identifyNow(pid: number): ProcessIdentity | undefined {
  const world = seeNow([pid]);
  return world === undefined ? undefined : identify(world, pid);
}

/** A process, told from a later one that was given the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque: when it started, and in which world of pids. */
  readonly start: string;
}

/** `unknown`: the system does not tell, or the process lives in a pid namespace that is not ours. */
export type Liveness = 'alive' | 'dead' | 'unknown';

/** Facts that processes are judged by. */
export interface ProcessWorld {
  /** All processes that can be seen. */
  readonly entries: readonly ProcessEntry[];
  /** Changes when the machine restarts; empty where start times are dates. */
  readonly boot: string;
  /** The namespace its pids are of; empty where there is only one. */
  readonly namespace: string;
}

/** A process of the world; its start is empty when it is not there. */
export function identify({ entries, boot, namespace }: ProcessWorld, pid: number): ProcessIdentity {
  const entry = entries.find((each) => each.pid === pid);
  return { pid, start: entry === undefined ? '' : [entry.startTime, boot, namespace].join(separator) };
}

/** Decides whether a process is still there, by pid and start. One that waits to be reaped is dead. */
export function judge({ entries, boot, namespace }: ProcessWorld, { pid, start }: ProcessIdentity): Liveness {
  const [startTime, itsBoot, itsNamespace] = start.split(separator);
  // A table without ourselves was not read.
  if (startTime === '' || !entries.some((each) => each.pid === process.pid)) return 'unknown';
  if (itsBoot !== boot) return 'dead';
  if (itsNamespace !== namespace) return 'unknown';
  const found = entries.find((each) => each.pid === pid);
  return found !== undefined && found.startTime === startTime && !found.zombie ? 'alive' : 'dead';
}

const separator = '@';
