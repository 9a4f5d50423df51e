import type { Clock, Timer, TimerOptions } from '../../src/policy/clock.ts';
import { systemClock } from '../../src/systemClock.ts';

interface Entry {
  readonly at: number;
  readonly fire: () => void;
}

/** The system's clock, which a test can put forward: for what has real processes and real files in it, and long waits. */
export class SkippingClock implements Clock {
  readonly #entries = new Map<Timer, Entry>();
  #skippedMs = 0;

  now(): number {
    return systemClock.now() + this.#skippedMs;
  }

  wallNow(): number {
    return systemClock.wallNow() + this.#skippedMs;
  }

  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    const fire = (): void => {
      this.#entries.delete(timer);
      callback();
    };
    const timer = systemClock.setTimeout(fire, delayMs, options);
    this.#entries.set(timer, { at: this.now() + delayMs, fire });
    return timer;
  }

  clearTimeout(timer: Timer | undefined): void {
    if (timer !== undefined) this.#entries.delete(timer);
    systemClock.clearTimeout(timer);
  }

  nextTurn(callback: () => void): void {
    systemClock.nextTurn(callback);
  }

  /** Puts it forward by `ms` at once; what has come due fires now. */
  skip(ms: number): void {
    this.#skippedMs += ms;
    for (const [timer, { at, fire }] of [...this.#entries]) {
      if (at > this.now()) continue;
      systemClock.clearTimeout(timer);
      fire();
    }
  }
}
