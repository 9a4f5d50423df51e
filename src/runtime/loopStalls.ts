import { longStallMs, type Stalls } from '../policy/clock.ts';
import { StallRecord } from '../policy/stallRecord.ts';

/** Interval at which it is looked whether the loop runs, in ms, while somebody wants to know: a stall is measured short by that at most. */
const tickMs = 100;

/** A tick that comes later than this was held up; the usual garbage collection and the usual long task were not a stall. In ms. */
const noticedMs = 100;

/** The stalls of this process's event loop: a tick that comes late was kept from coming. It ticks only while somebody watches. */
export class LoopStalls implements Stalls {
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
