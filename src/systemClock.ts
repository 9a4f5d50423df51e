import type { Clock, Timer } from './policy/clock.ts';

/** Longest delay Node's timers take; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The clock of the machine: monotonic `performance.now`, timers that do not keep the process alive. */
export const systemClock: Clock = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimeout(callback, delayMs, options) {
    const timer: LongTimer = { handle: undefined };
    arm(timer, callback, Math.max(0, delayMs), options?.ref === true);
    return timer;
  },
  clearTimeout(timer) {
    if (timer !== undefined) clearTimeout((timer as LongTimer).handle);
  },
  nextTurn(callback) {
    setImmediate(callback);
  },
};

interface LongTimer {
  handle: NodeJS.Timeout | undefined;
}

function arm(timer: LongTimer & Timer, callback: () => void, leftMs: number, ref: boolean): void {
  const step = Math.min(leftMs, longestDelayMs);
  timer.handle = setTimeout(() => {
    if (step < leftMs) arm(timer, callback, leftMs - step, ref);
    else callback();
  }, step);
  if (!ref) timer.handle.unref();
}
