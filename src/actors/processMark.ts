import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../policy/clock.ts';
import { listProcesses, listProcessesNow, listYoungerProcesses, pidsOfATurn } from './processTable.ts';

/** Environment variable by which everything that descends from one run is known, whoever its parent is by now. */
export const markName = 'UNWEDGE_RUN';

/** What is killed may have started another just before. */
const maxRounds = 5;
let lastMark = 0;
/** Pids and clocks may repeat, in containers above all; a kill by mark must not. Not by node:crypto: loading it outlasts a hook. */
const nonce = Math.floor(Math.random() * 2 ** 48).toString(16);

/** A value for {@link markName} that no other run has, of this runtime or another. */
export function nextMark(clock: Clock): string {
  return `${process.pid}.${Math.round(clock.wallNow())}.${nonce}.${++lastMark}`;
}

/**
 * Sends SIGKILL to what is left of runs: above all to processes in a session of their own whose parent is gone, which
 * neither the process group nor a walk of the tree can find. Linux only; elsewhere it does nothing. Never rejects.
 * @returns the marks that were found.
 */
export async function killMarked(...marks: readonly string[]): Promise<ReadonlySet<string>> {
  const seen = new Set<string>();
  if (process.platform !== 'linux' || marks.length === 0) return seen;
  const wanted = new Set(marks);
  // What descends from this process is younger; most of a machine is not.
  const list = marks.every((mark) => mark.includes(nonce)) ? listYoungerProcesses : listProcesses;
  for (let round = 0; round < maxRounds; round++) {
    const candidates = (await list()).filter(({ pid, zombie }) => !zombie && pid > 1 && pid !== process.pid);
    let killed = 0;
    for (const [index, { pid }] of candidates.entries()) {
      if (index % pidsOfATurn === pidsOfATurn - 1) await nextTurn();
      const mark = markOf(pid);
      if (mark === undefined || !wanted.has(mark)) continue;
      seen.add(mark);
      killed++;
      kill(pid);
    }
    if (killed === 0) break;
  }
  return seen;
}

/** {@link killMarked} for runs of this process, at once and blocking: for its exit. Never throws. */
export function killMarkedNow(...marks: readonly string[]): void {
  if (process.platform !== 'linux' || marks.length === 0) return;
  const wanted = new Set(marks);
  for (let round = 0; round < maxRounds; round++) {
    const found = listProcessesNow().filter(({ pid, zombie }) => {
      if (zombie || pid <= 1 || pid === process.pid) return false;
      const mark = markOf(pid);
      return mark !== undefined && wanted.has(mark);
    });
    if (found.length === 0) break;
    for (const { pid } of found) kill(pid);
  }
}

function markOf(pid: number): string | undefined {
  const environment = readEnvironment(pid);
  const variable = environment.split('\0').find((each) => each.startsWith(`${markName}=`));
  return variable?.slice(markName.length + 1);
}

function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // It ended in the meantime, or is somebody else's.
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
