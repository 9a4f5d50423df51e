import { type Clock, longStallMs, type Stalls, type Timer } from '../policy/clock.ts';
import { StallRecord } from '../policy/records/stallRecord.ts';

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

/** Interval at which it is looked whether the loop runs, in ms, while somebody wants to know: a stall is measured short by that at most. */
const tickMs = 100;

/** A tick that comes later than this was held up; the usual garbage collection and the usual long task were not a stall. In ms. */
const noticedMs = 100;

/** The stalls of this process's event loop: a tick that comes late was kept from coming. It ticks only while somebody watches. */
class LoopStalls implements Stalls {
  readonly #now: () => number;
  readonly #record = new StallRecord();
  readonly #watchers = new Set<{ readonly heard: ((stalledMs: number) => void) | undefined }>();
  /** Time when the next tick is to come; `Infinity` while nobody watches. */
  #expectedAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined = undefined;
  /** The timers that the tick is one of: fake timers of a test replace them, and it comes no more, or in another time. */
  #timers: typeof setTimeout | undefined = undefined;

  /** @param now - monotonic time in ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get wakeUntil(): number {
    this.#look();
    return this.#record.wakeUntil;
  }

  since(at: number): number {
    // Another of several timers that a stall held up may come before the tick.
    this.#look();
    return this.#record.since(at);
  }

  watch(heard?: (stalledMs: number) => void): () => void {
    const watcher = { heard };
    this.#watchers.add(watcher);
    if (this.#timer === undefined) this.#arm();
    else this.#follow();
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  /** @returns whether the timers were replaced: the time since then tells of no stall. */
  #follow(): boolean {
    if (this.#timer === undefined || setTimeout === this.#timers) return false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#arm();
    return true;
  }

  #arm(): void {
    this.#timers = setTimeout;
    this.#expectedAt = this.#now() + tickMs;
    // A single timer again and again: setting a new one each time would cost ten times as much.
    this.#timer = (this.#timer?.refresh() ?? setTimeout(this.#tick, tickMs)).unref();
  }

  readonly #tick = (): void => {
    this.#look();
    if (this.#watchers.size > 0) this.#arm();
    else {
      this.#timer = undefined;
      this.#expectedAt = Number.POSITIVE_INFINITY;
    }
  };

  #look(): void {
    if (this.#follow()) return;
    const now = this.#now();
    const from = this.#expectedAt;
    if (now - from < noticedMs) return;
    this.#expectedAt = now + tickMs;
    this.#record.add(from, now);
    if (now - from < longStallMs) return;
    for (const { heard } of [...this.#watchers]) heard?.(now - from);
  }
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

/** That of a process of one command: `performance` is loaded when it is first used, which takes longer than the rest of a short run's reckoning. */
export const lightClock: Clock = loopClock(() => process.uptime() * 1000);

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
