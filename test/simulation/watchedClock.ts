import type { Clock, Stalls, Timer, TimerOptions } from '../../src/policy/clock.ts';
import type { Judge } from './judge.ts';

interface Watched {
  timer: Timer | undefined;
}

/** The clock as the runtime sees it: knows the runtime's own timers, and judges what they throw. */
export class WatchedClock implements Clock {
  readonly #clock: Clock;
  readonly #judge: Judge;
  readonly #pending = new Set<Watched>();

  constructor(clock: Clock, judge: Judge) {
    this.#clock = clock;
    this.#judge = judge;
  }

  /** Timers of the runtime that have neither fired nor been cleared. */
  get pending(): number {
    return this.#pending.size;
  }

  now(): number {
    return this.#clock.now();
  }

  wallNow(): number {
    return this.#clock.wallNow();
  }

  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    this.#judge.expect(!Number.isNaN(delayMs), 'I-4', () => 'a timer was set for no time at all');
    const watched: Watched = { timer: undefined };
    this.#pending.add(watched);
    watched.timer = this.#clock.setTimeout(
      () => {
        this.#pending.delete(watched);
        this.#run('timer', callback);
      },
      delayMs,
      options,
    );
    return watched;
  }

  clearTimeout(timer: Timer | undefined): void {
    if (timer === undefined) return;
    this.#pending.delete(timer as Watched);
    this.#clock.clearTimeout((timer as Watched).timer);
  }

  nextTurn(callback: () => void): void {
    this.#clock.nextTurn(() => {
      this.#run('turn', callback);
    });
  }

  get stalls(): Stalls | undefined {
    return this.#clock.stalls;
  }

  #run(what: string, callback: () => void): void {
    try {
      callback();
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      this.#judge.violate('I-4', `a throw escaped a ${what} of the event loop: ${text}`);
    }
  }
}
