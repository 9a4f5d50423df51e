import type { BreakerPolicy, Tally } from '../policy/breaker.ts';
import { OutcomeWindow } from '../policy/outcomeWindow.ts';
import { createStreak, type FailureStreak } from './failureStreak.ts';

/** Counts that a breaker goes by: the failures in a row, and the ends of the last attempts. */
export class BreakerCounts {
  readonly #window: OutcomeWindow;
  readonly #streak: FailureStreak;
  /** Answers that came since the time was last known. */
  #untimed = 0;
  /** Time at which the last answer was counted, in monotonic ms: at most a moment after it came. */
  #lastAnswerAt = Number.NEGATIVE_INFINITY;

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
    this.#lastAnswerAt = now;
  }

  /** An answer that is to be counted as of the next {@link timeIs}: reading the clock would cost as much as the rest of the answer. */
  answeredJustNow(): void {
    this.#streak.end();
    this.#untimed++;
  }

  /** Counts as of now all that was counted without a time. */
  timeIs(now: number): void {
    if (this.#untimed > 0) this.#lastAnswerAt = now;
    for (; this.#untimed > 0; this.#untimed--) this.#window.record(false, now);
  }

  failed(now: number): Tally {
    this.timeIs(now);
    this.#window.record(true, now);
    return {
      consecutive: this.#streak.failed(),
      failures: this.#window.failures(now),
      total: this.#window.total(now),
    };
  }

  /** Tells whether an answer was counted after `since`, in monotonic ms. @param now - the time. */
  hasAnsweredSince(since: number, now: number): boolean {
    this.timeIs(now);
    return this.#lastAnswerAt > since;
  }

  /** Tells whether no failure is left in the counts. */
  isClean(now: number): boolean {
    return this.#window.failures(now) === 0;
  }

  #forgetWindow(): void {
    this.#untimed = 0;
    this.#window.clear();
  }
}
