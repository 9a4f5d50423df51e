import { accessSync, closeSync, constants, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { isShortage } from './spawnFailure.ts';
import { type Start, type Startable, tryStart } from './tryStart.ts';

/** Program that is to be executed. */
export interface Executable {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Places in which util-linux is installed; not the PATH, on which packages may put anything. */
const places = ['/usr/bin/prlimit', '/bin/prlimit', '/run/current-system/sw/bin/prlimit'];
/** Bytes of a file that are read to find the interpreter it names: as many as Linux reads. */
const longestHeadBytes = 256;

/** Starts a command with a mark as a limit, see {@link withLimitMark}; without one where the system refuses what sets it. Never throws. */
export function startMarked<C extends Startable>(
  executable: Executable,
  limit: string | undefined,
  start: (executable: Executable) => C,
): Start<C> {
  const marked = withLimitMark(executable, limit);
  if (marked === undefined) return tryStart(() => start(executable));
  const first = tryStart(() => start(marked));
  if (!('error' in first)) return first;
  const plain = tryStart(() => start(executable));
  // It is what sets the mark that the system does not let us execute, unless it was short of something for a moment.
  if (plain.child !== undefined)
    void first.error.then((error) => {
      if (!isShortage(error)) known = { setter: undefined };
    });
  return plain;
}

/**
 * The command with a mark that `env -i`, `setsid` and the death of a parent leave in place: the digits of a limit on real-time CPU time
 * (`RLIMIT_RTTIME`, soft) of more than three thousand years. All descendants of a process inherit its limits,
 * every process may lower this one, and `/proc/PID/limits` tells it. `prlimit` of util-linux sets it and then becomes the command.
 *
 * Undefined where that cannot be done, or where the command could not be executed: the system's own error tells more.
 */
function withLimitMark(executable: Executable, limit: string | undefined): Executable | undefined {
  const setter = limit === undefined ? undefined : findSetter();
  if (setter === undefined || !isExecutable(executable)) return undefined;
  const { command, args } = executable;
  return { ...executable, command: setter, args: [`--rttime=${limit}:`, '--', command, ...args] };
}

/** The soft limit on real-time CPU time of a process, in digits; undefined when there is none, or the process is not there. Never throws. */
export function limitOf(pid: number | 'self'): string | undefined {
  try {
    return readLimit(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.soft;
  } catch {
    return undefined;
  }
}

let known: { readonly setter: string | undefined } | undefined;

function findSetter(): string | undefined {
  if (known !== undefined) return known.setter;
  const isAllowed = mayRaise();
  if (isAllowed === undefined) return undefined;
  known = { setter: isAllowed ? places.find(isExecutableFile) : undefined };
  return known.setter;
}

/** A hard limit may lie below what is to be set: then it stays as it is. Undefined where that cannot be told for now. */
function mayRaise(): boolean | undefined {
  if (process.platform !== 'linux') return false;
  try {
    return readLimit(readFileSync('/proc/self/limits', 'latin1'))?.hard === 'unlimited';
  } catch (error) {
    return isShortage(error) ? undefined : false;
  }
}

function readLimit(
  limits: string,
): { readonly soft: string | undefined; readonly hard: string | undefined } | undefined {
  const line = /^Max realtime timeout\s+(?<soft>\d+|unlimited)\s+(?<hard>\d+|unlimited)/m.exec(limits)?.groups;
  return line === undefined ? undefined : { soft: line['soft'], hard: line['hard'] };
}

/** Tells whether the system would execute it, as far as can be told: found as the system finds it, and the interpreter it names is there. */
function isExecutable({ command, cwd = '.', env }: Executable): boolean {
  const path = command.includes('/')
    ? resolve(cwd, command)
    : (env['PATH'] ?? '/bin:/usr/bin')
        .split(delimiter)
        .map((directory) => resolve(cwd, directory, command))
        .find(isExecutableFile);
  return path !== undefined && isExecutableFile(path) && hasInterpreter(path, cwd);
}

function isExecutableFile(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function hasInterpreter(path: string, cwd: string): boolean {
  const head = headOf(path);
  // A program that may be executed and not read.
  if (head === undefined || !head.startsWith('#!')) return true;
  const [interpreter = ''] = head.slice(2).trimStart().split(/\s/, 1);
  return isExecutableFile(resolve(cwd, interpreter));
}

function headOf(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      const head = Buffer.alloc(longestHeadBytes);
      return head.toString('latin1', 0, readSync(file, head));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}
