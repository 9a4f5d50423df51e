import { readFile } from 'node:fs/promises';
import type { Clock } from '../policy/clock.ts';
import { listProcesses } from './processTable.ts';

/** Environment variable by which everything that descends from one run is known, whoever its parent is by now. */
export const markName = 'UNWEDGE_RUN';

/** What is killed may have started another just before. */
const maxRounds = 5;
let lastMark = 0;

/** A value for {@link markName} that no other run has, of this runtime or another. */
export function nextMark(clock: Clock): string {
  return `${process.pid}.${Math.round(clock.wallNow())}.${++lastMark}`;
}

/**
 * Sends SIGKILL to what is left of a run: above all to processes in a session of their own whose parent is gone, which
 * neither the process group nor a walk of the tree can find. Linux only; elsewhere it does nothing. Never rejects.
 */
export async function killMarked(mark: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (let round = 0; round < maxRounds; round++) {
    const entries = await listProcesses();
    const found = await Promise.all(
      entries.map(async ({ pid, zombie }) => !zombie && pid > 1 && (await isMarked(pid, mark))),
    );
    const pids = entries.map(({ pid }) => pid).filter((pid, index) => found[index] === true && pid !== process.pid);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
  }
}

async function isMarked(pid: number, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.split('\0').includes(`${markName}=${mark}`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
