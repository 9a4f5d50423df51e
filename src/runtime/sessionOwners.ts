import { judge, type ProcessWorld } from '../actors/process/processIdentity.ts';
import type { Clock } from '../policy/clock.ts';
import { renewEveryMs, type RuntimeRow } from '../store/runtimes.ts';

/** A run that has not renewed its row for so long is dead to sessions, whatever its process does: its event loop does not turn. In ms. */
const leaseMs = 5 * renewEveryMs;
/** For so long of our own time it must not have renewed either: after the machine slept, every row is old. In ms. */
const watchMs = renewEveryMs + 10_000;

/** Runs that are remembered: who is dead stays so, however many ask. */
const mostWatched = 1000;

interface Watched {
  /** Monotonic times. */
  readonly metAt: number;
  readonly unchangedSince: number;
  readonly renewedAt: number;
}

/** Judges which runs of a database are alive, of those that own sessions. */
export function createOwners(clock: Clock) {
  const watched = new Map<string, Watched>();
  let world: ProcessWorld = { entries: [], boot: '', namespace: '' };
  let lookedAt = 0;
  let seenAt = 0;

  function watch({ id, renewedAt }: RuntimeRow): Watched {
    const now = clock.now();
    const known = watched.get(id);
    if (known?.renewedAt === renewedAt) return known;
    const watching = { metAt: known?.metAt ?? now, unchangedSince: now, renewedAt };
    watched.delete(id);
    watched.set(id, watching);
    const [oldest] = watched.keys();
    if (watched.size > mostWatched && oldest !== undefined) watched.delete(oldest);
    return watching;
  }

  /** By process and lease. */
  function lives(run: RuntimeRow): boolean {
    const { metAt, unchangedSince } = watch(run);
    if (judge(world, { pid: run.pid, start: run.processStart }) === 'dead') {
      // It cannot be in what we saw when it started after that. The clock that says so may be wrong; whom we knew before, we should have seen.
      return run.startedAt >= seenAt && metAt >= lookedAt;
    }
    return clock.wallNow() - run.renewedAt < leaseMs || clock.now() - unchangedSince < watchMs;
  }

  return {
    /** Takes the processes as they were at the monotonic time `at`, the wall time `seenAt`. */
    see(seen: ProcessWorld, at: number, wallAt: number): void {
      world = seen;
      lookedAt = at;
      seenAt = wallAt;
    },
    isAlive: lives,
  };
}
