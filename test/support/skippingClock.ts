import type { Clock, Timer, TimerOptions } from '../../src/policy/clock.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';

/** Shorter waits are those with which processes are looked after. */
const longMs = 1000;

interface Entry {
  readonly at: number;
  readonly isLong: boolean;
  readonly fire: () => void;
  readonly real: Timer | undefined;
}

/** The system's clock, which a test can put forward: for what has real processes and real files in it, and long waits. */
export class SkippingClock implements Clock {
  readonly #entries = new Map<Timer, Entry>();
  #skippedMs = 0;
  #stoppedAt: { readonly now: number; readonly wallNow: number } | undefined;

  now(): number {
    return (this.#stoppedAt?.now ?? systemClock.now()) + this.#skippedMs;
  }

  wallNow(): number {
    return (this.#stoppedAt?.wallNow ?? systemClock.wallNow()) + this.#skippedMs;
  }

  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    const timer = {};
    const fire = (): void => {
      this.#entries.delete(timer);
      callback();
    };
    const isLong = delayMs >= longMs;
    const real = isLong && this.#stoppedAt !== undefined ? undefined : systemClock.setTimeout(fire, delayMs, options);
    this.#entries.set(timer, { at: this.now() + delayMs, isLong, fire, real });
    return timer;
  }

  clearTimeout(timer: Timer | undefined): void {
    if (timer === undefined) return;
    systemClock.clearTimeout(this.#entries.get(timer)?.real);
    this.#entries.delete(timer);
  }

  nextTurn(callback: () => void): void {
    systemClock.nextTurn(callback);
  }

  /** From now on it goes on by `skip` alone: no wait of a second or more ends before, however long the test takes. */
  stop(): void {
    // Whole, as timers are: what is due in 5000 ms is due then, and not a part of one later.
    this.#stoppedAt = { now: Math.ceil(systemClock.now()), wallNow: systemClock.wallNow() };
    for (const { isLong, real } of this.#entries.values()) if (isLong) systemClock.clearTimeout(real);
  }

  /** What is left of the waits of a second or more, in ms. */
  get waits(): readonly number[] {
    return [...this.#entries.values()].flatMap(({ at, isLong }) => (isLong ? [at - this.now()] : []));
  }

  /** Puts it forward by `ms` at once; what has come due fires now. */
  skip(ms: number): void {
    this.#skippedMs += ms;
    for (const [timer, { at, fire, real }] of [...this.#entries]) {
      // One that fired before may have cleared it.
      if (at > this.now() || !this.#entries.has(timer)) continue;
      systemClock.clearTimeout(real);
      fire();
    }
  }
}
