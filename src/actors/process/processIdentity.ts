import { readFileSync, readlinkSync } from 'node:fs';
import { listProcesses, readProcessNow } from './processTable.ts';
import { identify, type ProcessIdentity, type ProcessWorld } from './processWorld.ts';

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
