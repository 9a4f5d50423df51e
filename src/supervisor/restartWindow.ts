/**
 * A sliding window over restarts: `intensity` of them within `periodMs` are allowed, one more is not.
 * A ring of the last `intensity` restarts is all it keeps, so adding one costs the same however many there were.
 */
export interface RestartWindow {
  readonly intensity: number;
  readonly periodMs: number;
  /** Oldest at `next` once the ring is full. */
  ring: Restart[];
  next: number;
}

interface Restart {
  readonly at: number;
  readonly who: string;
}

/**
 * @param intensity - restarts allowed within the period; 0 allows none, `Infinity` any number (nothing is kept then).
 * @param periodMs - in ms. A restart exactly one period old still counts.
 */
export function createRestartWindow(intensity: number, periodMs: number): RestartWindow {
  return { intensity, periodMs, ring: [], next: 0 };
}

/**
 * Adds a restart at `now` (monotonic ms).
 * @returns whether it is allowed; one that is not is not kept.
 */
export function addRestart(window: RestartWindow, now: number, who: string): boolean {
  if (window.intensity === Number.POSITIVE_INFINITY) return true;
  if (window.ring.length < window.intensity) {
    window.ring.push({ at: now, who });
    return true;
  }
  const oldest = window.ring[window.next];
  if (oldest === undefined || now - oldest.at <= window.periodMs) return false;
  window.ring[window.next] = { at: now, who };
  window.next = (window.next + 1) % window.intensity;
  return true;
}

/** Tells whether the newest restart is within the period. */
export function hasRestarted({ ring, next, periodMs }: RestartWindow, now: number): boolean {
  const newest = ring.at(next - 1);
  return newest !== undefined && now - newest.at <= periodMs;
}

/** Time until a full window has room again, in ms. */
export function roomInMs({ ring, next, periodMs }: RestartWindow, now: number): number {
  const oldest = ring[next];
  return oldest === undefined ? 0 : oldest.at + periodMs + 1 - now;
}

/** Takes the restarts of one child out of the window, so that the others have their room back. */
export function forget(window: RestartWindow, who: string): void {
  const inOrder = [...window.ring.slice(window.next), ...window.ring.slice(0, window.next)];
  window.ring = inOrder.filter((restart) => restart.who !== who);
  window.next = 0;
}
