import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../policy/clock.ts';
import { limitOf } from './limitMark.ts';
import {
  listProcesses,
  listProcessesNow,
  listYoungerProcesses,
  pidsOfATurn,
  type ProcessEntry,
} from './processTable.ts';
import { killTreeNow } from './processTree.ts';
import { readFileSync } from 'node:fs';

/** Environment variable that marks everything that descends from one run, whatever its parent is by now. */
export const markName = 'UNWEDGE_RUN';

/** Rounds: one that is killed may have started another just before. */
const maxRounds = 5;
/** Digits of a runtime's own number, and of the number of its run, in the mark that is a limit. */
const nonceDigits = 11;
const runDigits = 6;
/** A run within a run within …: so many are told apart. */
const deepest = 8;
let lastMark = 0;
/** Pids and clocks may repeat, in containers above all; a kill by mark must not. Not by node:crypto: loading it outlasts a hook. */
const nonce = String(Math.floor(Math.random() * 10 ** nonceDigits)).padStart(nonceDigits, '0');

/** By what a guard finds the runs of this runtime. */
export const ownNonce = nonce;

/** A value that no other run has, of this runtime or another. */
export function nextMark(clock: Clock): string {
  return `${process.pid}.${Math.round(clock.wallNow())}.${nonce}.${++lastMark}`;
}

/** Gives the value set for a run: its mark, and the marks of the runs that this process is part of. The end of one of those ends it too. */
export function markVariable(mark: string, outer = process.env[markName]): string {
  const marks = outer === undefined ? [mark] : [mark, ...outer.split(separator)];
  return marks.slice(0, deepest).join(separator);
}

/** The mark as a limit, see {@link withLimitMark}; undefined for one that is not of this form. */
export function limitFor(mark: string): string | undefined {
  const [, , itsNonce = '', run = ''] = mark.split('.');
  if (itsNonce.length !== nonceDigits || !/^\d+$/.test(itsNonce) || !/^\d+$/.test(run)) return undefined;
  // No leading zero: it is read as a number.
  return `1${itsNonce}${run.slice(-runDigits).padStart(runDigits, '0')}`;
}

/**
 * Sends SIGKILL to what is left of runs: above all to processes in a session of their own whose parent is gone, which
 * neither the process group nor a walk of the tree can find. Linux only; elsewhere it does nothing. Never rejects.
 * @returns the marks that were found.
 */
export async function killMarked(...marks: readonly string[]): Promise<ReadonlySet<string>> {
  if (process.platform !== 'linux' || marks.length === 0) return new Set();
  // Descendants of this process are younger; most of a machine is not.
  const list = marks.every((mark) => mark.includes(nonce)) ? listYoungerProcesses : listProcesses;
  return killWhere(marksAmong(marks), list);
}

/** Tells whether a process carries the mark of a run of this runtime. Linux only; elsewhere none is seen. Never rejects. */
export async function isMarkSeen(mark: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const find = marksAmong([mark]);
  const list = mark.includes(nonce) ? listYoungerProcesses : listProcesses;
  return (await list()).some((entry) => isCandidate(entry) && find(entry.pid) !== undefined);
}

/** {@link killMarked} for all runs of the runtime of this nonce. @returns how many were found. */
export async function killMarkedBy(itsNonce: string): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const found = await killWhere(marksOf(itsNonce), listProcesses);
  return found.size;
}

/** {@link killMarked} for runs of this process, at once and blocking: for its exit. Never throws. */
export function killMarkedNow(...marks: readonly string[]): void {
  if (process.platform !== 'linux' || marks.length === 0) return;
  const find = marksAmong(marks);
  for (let round = 0; round < maxRounds; round++) {
    const found = listProcessesNow().filter((entry) => isCandidate(entry) && find(entry.pid) !== undefined);
    if (found.length === 0) break;
    for (const { pid } of found) kill(pid);
  }
}

/** Tells whether a variable names the mark, as its own or as that of a run around it. */
export function namesMark(variable: string | undefined, mark: string): boolean {
  return variable?.split(separator).includes(mark) === true;
}

/** By which wanted mark a process is known; undefined when by none. */
type FindMark = (pid: number) => string | undefined;

const separator = '/';

const isCandidate = ({ pid, zombie }: ProcessEntry): boolean => !zombie && pid > 1 && pid !== process.pid;

async function killWhere(find: FindMark, list: () => Promise<readonly ProcessEntry[]>): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  for (let round = 0; round < maxRounds; round++) {
    const candidates = (await list()).filter(isCandidate);
    let killed = 0;
    for (const [index, { pid }] of candidates.entries()) {
      if (index % pidsOfATurn === pidsOfATurn - 1) await nextTurn();
      const mark = find(pid);
      if (mark === undefined) continue;
      seen.add(mark);
      killed++;
      kill(pid);
    }
    if (killed === 0) break;
  }
  return seen;
}

function marksAmong(marks: readonly string[]): FindMark {
  const wanted = new Set(marks);
  const byLimit = new Map(marks.map((mark) => [limitFor(mark), mark]));
  byLimit.delete(undefined);
  return (pid) => {
    const found = variableOf(pid)
      ?.split(separator)
      .find((mark) => wanted.has(mark));
    if (found !== undefined || byLimit.size === 0) return found;
    return byLimit.get(limitOf(pid));
  };
}

function marksOf(itsNonce: string): FindMark {
  const start = `1${itsNonce}`;
  return (pid) => {
    const found = variableOf(pid)
      ?.split(separator)
      .find((mark) => mark.split('.')[2] === itsNonce);
    if (found !== undefined) return found;
    const limit = limitOf(pid);
    return limit?.length === start.length + runDigits && limit.startsWith(start) ? limit : undefined;
  };
}

const variableOf = (pid: number): string | undefined => variablesOf(pid)(markName);

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}

/** Marks by pid. */
const live = new Map<number, string>();

/**
 * Kills the process and everything it started should the runtime exit first, also what outlived it in a session of its own. Returns how to
 * take it off again; while nothing is watched there is no listener on `process`.
 */
export function killAtExit(pid: number, mark: string): () => void {
  if (live.size === 0) process.on('exit', killAll);
  live.set(pid, mark);
  return () => {
    if (live.delete(pid) && live.size === 0) process.off('exit', killAll);
  };
}

function killAll(): void {
  killTreeNow(...live.keys());
  killMarkedNow(...live.values());
}

/** A variable of a process as it was started; undefined where it has none, or may not be read. */
type ReadVariable = (name: string) => string | undefined;

/** Tells whether the system shows the environment of processes. */
export const tellsEnvironments = (): boolean => process.platform === 'linux';

/** The environment that a process was started with, as `NAME=value` parts with NULs in between; empty where it may not be read. Linux only. Never throws. */
function readEnvironment(pid: number): string {
  return read(pid, 'environ');
}

/** The words that a process was started with; empty where they may not be read. Linux only. Never throws. */
export function readCommandLine(pid: number): readonly string[] {
  return read(pid, 'cmdline').split('\0').slice(0, -1);
}

/**
 * The processes that began after this one, run, and were started with an environment that passes. Never rejects; empty but
 * where {@link tellsEnvironments}.
 */
export async function listByEnvironment(passes: (variable: ReadVariable) => boolean): Promise<readonly ProcessEntry[]> {
  if (!tellsEnvironments()) return [];
  const found: ProcessEntry[] = [];
  for (const [index, entry] of (await listYoungerProcesses()).entries()) {
    if (index % pidsOfATurn === pidsOfATurn - 1) await nextTurn();
    if (!entry.zombie && passes(variablesOf(entry.pid))) found.push(entry);
  }
  return found;
}

/** Reads the variables of a process, once they are asked for. */
export function variablesOf(pid: number): ReadVariable {
  let parts: readonly string[] | undefined;
  return (name) => {
    parts ??= readEnvironment(pid).split('\0');
    return parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1);
  };
}

function read(pid: number, what: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, 'latin1');
  } catch {
    // It ended in the meantime, or is somebody else's.
    return '';
  }
}
