import type { Clock, Timer } from '../../src/policy/face.ts';

/** Time within which a status is told once at most, in ms. */
const gatherMs = 60_000;

/** Counts requests that were not served, by status: the first is told at once, what comes within a minute after it in one figure. */
export class Refusals {
  readonly #clock: Clock;
  readonly #tell: (status: number, requests: number) => void;
  /** Requests that are not told yet, of each status that was told within the minute. */
  readonly #untold = new Map<number, number>();
  readonly #timers = new Map<number, Timer>();

  constructor(clock: Clock, tell: (status: number, requests: number) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  count(status: number): void {
    const untold = this.#untold.get(status);
    if (untold === undefined) this.#say(status, 1);
    else this.#untold.set(status, untold + 1);
  }

  /** Tells what is left. */
  end(): void {
    for (const timer of this.#timers.values()) this.#clock.clearTimeout(timer);
    for (const [status, requests] of this.#untold) if (requests > 0) this.#tell(status, requests);
    this.#untold.clear();
  }

  #say(status: number, requests: number): void {
    this.#tell(status, requests);
    this.#untold.set(status, 0);
    this.#timers.set(
      status,
      this.#clock.setTimeout(() => {
        const more = this.#untold.get(status) ?? 0;
        this.#untold.delete(status);
        this.#timers.delete(status);
        if (more > 0) this.#say(status, more);
      }, gatherMs),
    );
  }
}
