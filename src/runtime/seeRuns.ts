import { type ProcessWorld, seeNow, seeWorld } from '../actors/process/processIdentity.ts';
import type { Clock } from '../policy/clock.ts';

/** Longest walk over the process table, in ms; after that nothing is known of the processes. */
const worldLimitMs = 5000;

/**
 * The processes that runs of the database are of, and our own. Without any when the system takes too long to say.
 * @param pids - of the runs.
 */
export function seeRuns(clock: Clock, pids: readonly number[]): Promise<ProcessWorld> {
  const now = seeNow(pids);
  if (now !== undefined) return Promise.resolve(now);
  return new Promise((resolve) => {
    const nothing = { entries: [], boot: '', namespace: '' };
    const timer = clock.setTimeout(() => resolve(nothing), worldLimitMs, { ref: true });
    void seeWorld().then((world) => {
      clock.clearTimeout(timer);
      resolve(world);
    });
  });
}
