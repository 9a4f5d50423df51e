import { type Clock, type Stalls, type Timer, type TimerOptions, longStallMs } from '../src/policy/face.ts';
import { StallRecord } from '../src/policy/records/face.ts';
import { checkNumber } from '../src/policy/options/face.ts';

interface Entry {
  at: number;
  readonly order: number;
  readonly running: boolean;
  readonly callback: () => void;
}

/**
 * A clock that moves only when told to. Due timers fire in the order of their time, also those a timer arms on the way
 * (XState's own simulated clock fires only the first of two chained delays); turns of the event loop run between them,
 * and promises settle between turns.
 *
 * @example
 * const clock = new SimulatedClock();
 * const outcome = integration.call('ask');
 * await clock.advance(30_000);
 */
export class SimulatedClock implements Clock {
  #now = 0;
  #wallOffset: number;
  #order = 0;
  #timers: Entry[] = [];
  #turns: (() => void)[] = [];
  readonly #loading = new Set<Promise<unknown>>();
  readonly #stalls = new StallRecord();
  readonly #watchers = new Set<{ readonly heard: ((stalledMs: number) => void) | undefined }>();
  readonly #measure: Stalls;

  /** @param wallStart - wall time at the start, in ms since the epoch. */
  constructor(wallStart = Date.UTC(2026, 0, 1)) {
    this.#wallOffset = wallStart;
    const [stalls, watchers] = [this.#stalls, this.#watchers];
    this.#measure = {
      since: (at) => stalls.since(at),
      get wakeUntil() {
        return stalls.wakeUntil;
      },
      watch(heard) {
        const watcher = { heard };
        watchers.add(watcher);
        return () => watchers.delete(watcher);
      },
    };
  }

  now(): number {
    return this.#now;
  }

  wallNow(): number {
    return this.#wallOffset + this.#now;
  }

  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    const at = this.#now + Math.max(0, delayMs);
    const entry: Entry = { at, order: this.#order++, running: options?.running === true, callback };
    let index = this.#timers.length;
    while (index > 0 && (this.#timers[index - 1] as Entry).at > entry.at) index--;
    this.#timers.splice(index, 0, entry);
    return entry;
  }

  clearTimeout(timer: Timer | undefined): void {
    const index = this.#timers.indexOf(timer as Entry);
    if (index >= 0) this.#timers.splice(index, 1);
  }

  nextTurn(callback: () => void): void {
    this.#turns.push(callback);
  }

  /** Has {@link advance} and {@link settle} wait for what takes real time: a module that is loaded. */
  loading(work: Promise<unknown>): void {
    this.#loading.add(work);
    const over = (): void => void this.#loading.delete(work);
    work.then(over, over);
  }

  /** Pending timers; turns of the event loop are not counted. */
  get pending(): number {
    return this.#timers.length;
  }

  /** The time of the next timer, or undefined when there is none. */
  get nextAt(): number | undefined {
    return this.#timers[0]?.at;
  }

  /** Steps the wall clock without moving monotonic time. */
  stepWall(ms: number): void {
    this.#wallOffset += ms;
  }

  /** Lets promises settle and runs pending turns until there are none. */
  async settle(): Promise<void> {
    await drainMicrotasks();
    while (this.#turns.length > 0 || this.#loading.size > 0) {
      await Promise.allSettled(this.#loading);
      const turns = this.#turns;
      this.#turns = [];
      for (const turn of turns) turn();
      await drainMicrotasks();
    }
  }

  /** Moves time on by `ms`, firing what is due in order. @throws TypeError or RangeError when `ms` is no finite number of at least 0. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + checkNumber('ms', ms);
    await this.settle();
    for (let next = this.#timers[0]; next !== undefined && next.at <= end; next = this.#timers[0]) {
      this.#timers.shift();
      this.#now = Math.max(this.#now, next.at);
      next.callback();
      await this.settle();
    }
    this.#now = end;
    await this.settle();
  }

  /** Moves time on by `ms` without firing anything: the event loop was blocked, or the process stopped. Timers fire late, at the next `advance`. */
  stall(ms: number): void {
    const from = this.#now;
    this.#now += checkNumber('ms', ms);
    this.#stalls.add(from, this.#now);
    for (const entry of this.#timers) if (entry.running) entry.at += ms;
    this.#timers.sort((one, other) => one.at - other.at || one.order - other.order);
    if (ms >= longStallMs) for (const { heard } of [...this.#watchers]) heard?.(ms);
  }

  /** Stalls of {@link stall}, to the millisecond. */
  get stalls(): Stalls {
    return this.#measure;
  }
}

/** Chains of promises are short; a macrotask of the real loop lets every one of them finish. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
