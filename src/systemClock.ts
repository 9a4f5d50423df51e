import type { Clock, Timer } from './policy/clock.ts';

/** Longest delay Node's timers take; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The global is a getter, which costs as much as the time itself; loading what is behind it takes longer than a short import. */
let monotonic: typeof performance | undefined;

/** The clock of the machine: monotonic `performance.now`, timers that do not keep the process alive. */
export const systemClock: Clock = {
  now: () => (monotonic ??= globalThis.performance).now(),
  wallNow: () => Date.now(),
  setTimeout(callback, delayMs, options) {
    const ref = options?.ref === true;
    if (delayMs <= longestDelayMs) return arm(callback, delayMs, ref);
    const timer = new LongTimer();
    timer.arm(callback, delayMs, ref);
    return timer;
  },
  clearTimeout(timer) {
    clearTimeout(timer instanceof LongTimer ? timer.handle : (timer as NodeJS.Timeout | undefined));
  },
  nextTurn(callback) {
    setImmediate(callback);
  },
};

/** A timer that takes several of Node's, one after the other. */
class LongTimer {
  handle: NodeJS.Timeout | undefined = undefined;

  arm(callback: () => void, leftMs: number, ref: boolean): void {
    const step = Math.min(leftMs, longestDelayMs);
    const next = (): void => {
      if (step < leftMs) this.arm(callback, leftMs - step, ref);
      else callback();
    };
    this.handle = arm(next, step, ref);
  }
}

function arm(callback: () => void, delayMs: number, ref: boolean): NodeJS.Timeout & Timer {
  const handle = setTimeout(callback, Math.max(0, delayMs));
  return ref ? handle : handle.unref();
}
