import { killTreeNow } from './processTree.ts';

const live = new Set<number>();

/**
 * Kills the process and everything below it should the runtime exit first. Returns how to take it off again; while nothing
 * is watched there is no listener on `process`.
 */
export function killAtExit(pid: number): () => void {
  if (live.size === 0) process.on('exit', killAll);
  live.add(pid);
  return () => {
    if (live.delete(pid) && live.size === 0) process.off('exit', killAll);
  };
}

function killAll(): void {
  killTreeNow(...live);
}
