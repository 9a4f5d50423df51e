import type { BreakerPolicy, Tally } from '../policy/breaker.ts';
import { OutcomeWindow } from '../policy/outcomeWindow.ts';
import { createStreak, type FailureStreak } from './failureStreak.ts';

/** What a breaker goes by: the failures in a row, and how the last attempts ended. */
export class BreakerCounts {
  readonly #window: OutcomeWindow;
  readonly #streak: FailureStreak;
  /** Failures in a row as of the last one. */
  inARow = 0;
  /** Answers that came since the time was last known. */
  #untimed = 0;

  /** @param streak - counts the failures in a row. */
  constructor(policy: BreakerPolicy, streak: FailureStreak = createStreak()) {
    this.#window = new OutcomeWindow(policy.windowSize, policy.windowMs);
    this.#streak = streak;
  }

  /** A new incarnation of the machine takes over. */
  begin(): void {
    this.#forgetWindow();
    this.#streak.begin();
  }

  clear(): void {
    this.#forgetWindow();
    this.#streak.end();
  }

  answered(now: number): void {
    this.#streak.end();
    this.timeIs(now);
    this.#window.record(false, now);
  }

  /** An answer that is to be counted as of the next {@link timeIs}: reading the clock would cost as much as the rest of the answer. */
  answeredJustNow(): void {
    this.#streak.end();
    this.#untimed++;
  }

  /** What was counted without a time is counted as of now. */
  timeIs(now: number): void {
    for (; this.#untimed > 0; this.#untimed--) this.#window.record(false, now);
  }

  failed(now: number): Tally {
    this.timeIs(now);
    this.#window.record(true, now);
    this.inARow = this.#streak.failed();
    return {
      consecutive: this.inARow,
      failures: this.#window.failures(now),
      total: this.#window.total(now),
    };
  }

  #forgetWindow(): void {
    this.#untimed = 0;
    this.#window.clear();
  }
}
