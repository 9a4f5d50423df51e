import type { Clock, Stalls, Timer, TimerOptions } from '../../../src/policy/clock.ts';

/** The clock of a process that may be killed: nothing of it runs after that. */
export class MortalClock implements Clock {
  isAlive = true;
  readonly #clock: Clock;
  readonly #crossing: () => void;

  /** @param crossing - told before anything runs; may be the end of the process. */
  constructor(clock: Clock, crossing: () => void) {
    this.#clock = clock;
    this.#crossing = crossing;
  }

  now(): number {
    return this.#clock.now();
  }

  wallNow(): number {
    return this.#clock.wallNow();
  }

  setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    return this.#clock.setTimeout(() => this.#run(callback), delayMs, options);
  }

  clearTimeout(timer: Timer | undefined): void {
    this.#clock.clearTimeout(timer);
  }

  nextTurn(callback: () => void): void {
    this.#clock.nextTurn(() => this.#run(callback));
  }

  get stalls(): Stalls | undefined {
    return this.#clock.stalls;
  }

  #run(callback: () => void): void {
    if (this.isAlive) this.#crossing();
    if (this.isAlive) callback();
  }
}
