import type { Clock } from '../../policy/clock.ts';
import { listProcesses, listProcessesNow, type ProcessEntry } from './processTable.ts';
import { inTime } from '../../policy/inTime.ts';

/** Options of {@link terminateTree}. */
interface TerminateOptions {
  /** Time between SIGTERM and SIGKILL, in ms; 0 sends SIGKILL at once. At least 0. @defaultValue 5000 */
  readonly graceMs?: number | undefined;
  /** Signal that asks the processes to end. @defaultValue 'SIGTERM' */
  readonly signal?: NodeJS.Signals | undefined;
  readonly clock: Clock;
  /** Settles, either way, when the process itself has exited. Without it, as for a process that is no child of ours, the process table tells. */
  readonly exited?: Promise<unknown> | undefined;
  /** The start time of the process in the process table. A process of another start time is a stranger and left alone. @defaultValue any */
  readonly startTime?: string | undefined;
}

/** Time in ms that SIGKILL may take to show; a process in an uninterruptible system call outlives even that. */
const killLimitMs = 2000;
/** Time in ms that the process table may take to read; after that the process group alone is signalled. */
const walkLimitMs = 1000;
const shortestPollMs = 20;
const longestPollMs = 320;

/**
 * The pids of everything below `pid`: children of children, and all members of the groups and sessions that any of them
 * leads, also when the parent in between is gone. Never rejects; empty where the system cannot be asked.
 */
export async function descendants(pid: number): Promise<number[]> {
  if (!isSafe(pid)) return [];
  const family = startFamily(pid);
  return grow(family, await listProcesses())
    .map((entry) => entry.pid)
    .filter((member) => member !== pid);
}

/**
 * Ends a process and everything below it: SIGTERM to its group and to every descendant, also those with a session of their
 * own; SIGKILL to what is left after the grace time. Resolves when all are gone, or a bounded time after SIGKILL. Never throws.
 *
 * @example
 * await terminateTree(child.pid, { clock, exited: once(child, 'exit') });
 */
export async function terminateTree(pid: number, options: TerminateOptions): Promise<void> {
  if (!isSafe(pid)) return;
  const { graceMs = 5000, clock } = options;
  const root: Root = { pid, gone: false };
  const family = startFamily(pid, options.startTime);
  const exited = options.exited?.then(noop, noop).then(() => {
    root.gone = true;
  });
  const look = async (): Promise<readonly ProcessEntry[]> => {
    const alive = await survivors(family, clock);
    if (exited === undefined) root.gone = alive.every((entry) => entry.pid !== pid);
    return alive;
  };
  const end = async (limitMs: number, kill: boolean): Promise<boolean> => {
    const endAt = clock.now() + limitMs;
    if (exited !== undefined) await inTime(exited, { clock, limitMs });
    return waitForEnd({ root, look, clock, endAt, kill });
  };
  // Before the first signal: once a parent is gone, a child in a session of its own can no longer be traced to it.
  const alive = await look();
  if (graceMs > 0) {
    signalAll(root, alive, options.signal ?? 'SIGTERM');
    if (await end(graceMs, false)) return;
  }
  signalAll(root, await look(), 'SIGKILL');
  await end(killLimitMs, true);
}

/**
 * Sends SIGKILL to running children, their groups and everything below them, at once and blocking: for a brutal stop and
 * for the exit of the runtime. Never throws.
 */
export function killTreeNow(...pids: number[]): void {
  const safe = pids.filter(isSafe);
  if (safe.length === 0) return;
  const entries = listProcessesNow();
  for (const pid of safe) signalAll({ pid, gone: false }, grow(startFamily(pid), entries), 'SIGKILL');
}

/** Lists what a child that has exited left behind in its group or session; asks the process table only where there is something. Never throws. */
export function orphansNow(pid: number): readonly ProcessEntry[] {
  if (!isSafe(pid) || !send(-pid, 0)) return [];
  return grow(startFamily(pid), listProcessesNow()).filter((entry) => entry.pid !== pid);
}

/** Sends SIGKILL to what a child that has exited left behind in its group or session. Never throws. */
export function killOrphansNow(pid: number): void {
  signalAll({ pid, gone: true }, orphansNow(pid), 'SIGKILL');
}

/** 0, 1 and negative numbers address groups, init or everything; the runtime itself is nobody's child here. */
const isSafe = (pid: number): boolean => Number.isSafeInteger(pid) && pid > 1 && pid !== process.pid;

interface Root {
  readonly pid: number;
  /** From here on the system may give its pid to a stranger. */
  gone: boolean;
}

interface Ending {
  readonly root: Root;
  /** Finds the part of the tree that is alive; brings `root.gone` up to date. */
  readonly look: () => Promise<readonly ProcessEntry[]>;
  readonly clock: Clock;
  /** Monotonic, in ms. */
  readonly endAt: number;
  /** True where processes that appear on the way are killed. */
  readonly kill: boolean;
}

/** Tells whether all were gone in time. */
async function waitForEnd({ root, look, clock, endAt, kill }: Ending): Promise<boolean> {
  for (let waitMs = shortestPollMs; ; waitMs = Math.min(waitMs * 2, longestPollMs)) {
    const alive = await look();
    if (alive.length === 0 && root.gone) return true;
    if (kill) signalAll(root, alive, 'SIGKILL');
    const leftMs = endAt - clock.now();
    if (leftMs <= 0) return false;
    await inTime(new Promise<void>(noop), { clock, limitMs: Math.min(waitMs, leftMs) });
  }
}

async function survivors(family: Family, clock: Clock): Promise<readonly ProcessEntry[]> {
  return grow(family, (await inTime(listProcesses(), { clock, limitMs: walkLimitMs })) ?? []);
}

function signalAll(root: Root, alive: readonly ProcessEntry[], signal: NodeJS.Signals): void {
  const { pid } = root;
  // Each gets one signal: a second SIGTERM means "at once" to many programs.
  if (!root.gone) {
    if (!send(-pid, signal)) send(pid, signal);
  } else if (alive.some((entry) => entry.group === pid)) {
    send(-pid, signal);
  }
  for (const entry of alive) {
    if (entry.group !== pid && entry.pid !== pid) send(entry.pid, signal);
  }
}

/** Tells whether the signal was sent; false when nobody is there or it is not ours to signal. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

function noop(): void {}

/** Every process ever seen in the tree, by pid, with its start time. */
type Family = Map<number, string | undefined>;

const startFamily = (pid: number, startTime?: string): Family => new Map([[pid, startTime]]);

/** Takes new members into the family and returns those that are alive; a pid that was given to a stranger is no member. */
function grow(family: Family, entries: readonly ProcessEntry[]): ProcessEntry[] {
  const byPid = new Map(entries.map((entry) => [entry.pid, entry]));
  const isMember = (pid: number): boolean => {
    if (!family.has(pid)) return false;
    const known = family.get(pid);
    const seen = byPid.get(pid);
    // A dead leader's pid names its group until the last member is gone; a live one must be the process we knew.
    return known === undefined || seen === undefined || seen.startTime === known;
  };
  const leads = (leader: number): boolean => leader > 1 && isMember(leader);
  for (let found = true; found; ) {
    found = false;
    for (const entry of entries) {
      if (entry.pid === process.pid || family.has(entry.pid)) continue;
      if (!leads(entry.parent) && !leads(entry.group) && !leads(entry.session)) continue;
      family.set(entry.pid, entry.startTime);
      found = true;
    }
  }
  return entries.filter((entry) => {
    if (!isMember(entry.pid)) return false;
    family.set(entry.pid, entry.startTime);
    return !entry.zombie;
  });
}
