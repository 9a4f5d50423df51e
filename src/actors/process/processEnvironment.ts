import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listYoungerProcesses, pidsOfATurn, type ProcessEntry } from './processTable.ts';

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
