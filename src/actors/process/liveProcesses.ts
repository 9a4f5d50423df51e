import { killMarkedNow } from './processMark.ts';
import { killTreeNow } from './processTree.ts';

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
