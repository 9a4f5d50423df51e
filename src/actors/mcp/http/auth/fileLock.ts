import { closeSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Clock } from '../../../../policy/clock.ts';
import { readProcessNow } from '../../../process/processTable.ts';

interface LockOwner {
  readonly host: string;
  readonly pid: number;
  readonly startTime?: string | undefined;
}

const pollMs = 50;
/** Age of a stale lock; work under one has a limit far below this. */
const staleMs = 2 * 60_000;
/** Limit on the taking of a stale lock, done in one turn. */
const stealMs = 10_000;

/** The lock was not to be had in time. */
export const lockBusy = Symbol('busy');

/**
 * Does the work of one process at a time: whoever has made the file has the lock. The lock of a dead process is taken away.
 * @param waitMs - how long to wait for it.
 * @throws what the work throws, and what the file system says against the file.
 */
export async function withFileLock<T>(
  path: string,
  clock: Clock,
  waitMs: number,
  work: () => Promise<T>,
): Promise<T | typeof lockBusy> {
  const until = clock.now() + waitMs;
  while (!take(path)) {
    if (isStale(path)) steal(path);
    else if (clock.now() >= until) return lockBusy;
    else await new Promise<void>((resolve) => void clock.setTimeout(resolve, pollMs, { ref: true }));
  }
  try {
    return await work();
  } finally {
    remove(path);
  }
}

function take(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  const { pid } = process;
  writeSync(file, JSON.stringify({ host: hostname(), pid, startTime: startTimeOf(pid) } satisfies LockOwner));
  closeSync(file);
  return true;
}

function isStale(path: string): boolean {
  const age = ageMs(path);
  if (age === undefined) return false;
  if (age > staleMs) return true;
  try {
    const owner = JSON.parse(readFileSync(path, 'utf8')) as LockOwner;
    return owner.host === hostname() && !isAlive(owner);
  } catch {
    // It is being written, or gone.
    return false;
  }
}

/** Two that find the same stale lock must not take the second one's fresh lock away. */
function steal(path: string): void {
  const mark = `${path}.steal`;
  if ((ageMs(mark) ?? 0) > stealMs) remove(mark);
  try {
    closeSync(openSync(mark, 'wx', 0o600));
  } catch {
    return;
  }
  if (isStale(path)) remove(path);
  remove(mark);
}

function isAlive({ pid, startTime }: LockOwner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  return startTime === undefined || startTimeOf(pid) === startTime;
}

function startTimeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? readProcessNow(pid)?.startTime : undefined;
}

/** Gives the age of a file, by the time of the file system; undefined where there is none. */
function ageMs(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : Date.now() - found.mtimeMs;
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already.
  }
}
