import { LoopStalls } from './loopStalls.ts';
import type { Clock, Stalls, Timer } from '../policy/clock.ts';

/** Longest delay Node's timers take; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The global is a getter, which costs as much as the time itself. Loading the module takes longer than a short import. */
let monotonic: typeof performance | undefined;

/** The timers that `monotonic` goes with: fake timers of a test replace both, and take both back at its end. */
let timers: typeof setTimeout | undefined;

/** Ms added to `monotonic`, so that time goes on where it was when a test replaces it. */
let offsetMs = 0;

function monotonicNow(): number {
  if (monotonic === undefined || setTimeout !== timers) follow(globalThis.performance);
  return offsetMs + (monotonic as typeof performance).now();
}

function follow(current: typeof performance): void {
  if (monotonic !== undefined) offsetMs += monotonic.now() - current.now();
  monotonic = current;
  timers = setTimeout;
}

/** A clock of this process's event loop. @param now - monotonic time in ms. */
export function loopClock(now: () => number): Clock {
  const stalls = new LoopStalls(now);
  return {
    now,
    wallNow: () => Date.now(),
    setTimeout(callback, delayMs, options) {
      const ref = options?.ref === true;
      const running = options?.running === true;
      if (!running && delayMs <= longestDelayMs) return arm(callback, delayMs, ref);
      const timer = new LongTimer(callback, ref);
      if (running) timer.armRunning(delayMs, { now, stalls });
      else timer.arm(delayMs);
      return timer;
    },
    clearTimeout(timer) {
      if (timer instanceof LongTimer) timer.clear();
      else clearTimeout(timer as NodeJS.Timeout | undefined);
    },
    nextTurn(callback) {
      setImmediate(callback);
    },
    stalls,
  };
}

/** The clock of the machine: monotonic `performance.now`, timers that do not keep the process alive. */
export const systemClock: Clock = loopClock(monotonicNow);

/** A timer that takes several of Node's, one after the other. */
class LongTimer {
  readonly #callback: () => void;
  readonly #ref: boolean;
  #handle: NodeJS.Timeout | undefined = undefined;
  #release: (() => void) | undefined = undefined;

  constructor(callback: () => void, ref: boolean) {
    this.#callback = callback;
    this.#ref = ref;
  }

  arm(leftMs: number, then = this.#callback): void {
    const step = Math.min(leftMs, longestDelayMs);
    const next = (): void => (step < leftMs ? this.arm(leftMs - step, then) : then());
    this.#handle = arm(next, step, this.#ref);
  }

  /** Goes on for as long as the event loop stood still meanwhile. */
  armRunning(leftMs: number, loop: { readonly now: () => number; readonly stalls: Stalls }): void {
    this.#release ??= loop.stalls.watch();
    const from = loop.now();
    this.arm(leftMs, () => {
      const stalledMs = loop.stalls.since(from);
      if (stalledMs > 0) this.armRunning(stalledMs, loop);
      else {
        this.clear();
        this.#callback();
      }
    });
  }

  clear(): void {
    this.#release?.();
    clearTimeout(this.#handle);
  }
}

function arm(callback: () => void, delayMs: number, ref: boolean): NodeJS.Timeout & Timer {
  const handle = setTimeout(callback, Math.max(0, delayMs));
  return ref ? handle : handle.unref();
}
