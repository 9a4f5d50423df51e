import type { BreakerPolicy, Tally } from '../../policy/breaker.ts';

/** Counts that a breaker goes by: the failures in a row, and the ends of the last attempts. */
export class BreakerCounts {
  readonly #window: OutcomeWindow;
  readonly #streak: FailureStreak;
  /** A failure may have been counted since the last answer. */
  #failing = true;
  /** Time at which the last answer was counted, in monotonic ms. */
  #lastAnswerAt = Number.NEGATIVE_INFINITY;

  /** @param streak - counts the failures in a row. */
  constructor(policy: BreakerPolicy, streak: FailureStreak = createStreak()) {
    this.#window = new OutcomeWindow(policy.windowSize, policy.windowMs);
    this.#streak = streak;
  }

  /** A new incarnation of the machine takes over. */
  begin(): void {
    this.#window.clear();
    this.#streak.begin();
    this.#failing = true;
  }

  clear(): void {
    this.#window.clear();
    this.#streak.end();
  }

  answered(now: number): void {
    if (this.#failing) this.#streak.end();
    this.#failing = false;
    this.#window.record(false, now);
    this.#lastAnswerAt = now;
  }

  failed(now: number): Tally {
    this.#failing = true;
    this.#window.record(true, now);
    return {
      consecutive: this.#streak.failed(),
      failures: this.#window.failures(now),
      total: this.#window.total(now),
    };
  }

  /** Tells whether an answer was counted after `since`, in monotonic ms. */
  hasAnsweredSince(since: number): boolean {
    return this.#lastAnswerAt > since;
  }

  /** Tells whether no failure is left in the counts. */
  isClean(now: number): boolean {
    return this.#window.failures(now) === 0;
  }
}

/**
 * The last attempts of an integration, for the failure ratio: a ring of fixed size whose entries also leave by age. Recording
 * allocates nothing; counting drops each attempt at most once. Times must not go back.
 */
export class OutcomeWindow {
  readonly #windowMs: number;
  readonly #times: Float64Array;
  readonly #failed: Uint8Array;
  #oldest = 0;
  #length = 0;
  #failures = 0;

  /** @param size - attempts it holds, at least 1. @param windowMs - age at which they leave, in ms. */
  constructor(size: number, windowMs: number) {
    this.#windowMs = windowMs;
    this.#times = new Float64Array(size);
    this.#failed = new Uint8Array(size);
  }

  /** Adds an attempt; when full, the oldest makes room. */
  record(failed: boolean, now: number): void {
    const size = this.#times.length;
    if (this.#length === size) this.#dropOldest();
    const next = this.#oldest + this.#length;
    // A remainder takes longer than the rest of this.
    const index = next < size ? next : next - size;
    this.#times[index] = now;
    this.#failed[index] = failed ? 1 : 0;
    this.#length++;
    if (failed) this.#failures++;
  }

  /** Failed attempts younger than the window. */
  failures(now: number): number {
    this.#forget(now);
    return this.#failures;
  }

  /** Attempts younger than the window. */
  total(now: number): number {
    this.#forget(now);
    return this.#length;
  }

  /** Forgets everything, as a circuit does that closes. */
  clear(): void {
    this.#oldest = 0;
    this.#length = 0;
    this.#failures = 0;
  }

  #forget(now: number): void {
    while (this.#length > 0 && now - (this.#times[this.#oldest] ?? 0) >= this.#windowMs) this.#dropOldest();
  }

  #dropOldest(): void {
    this.#failures -= this.#failed[this.#oldest] ?? 0;
    this.#oldest = (this.#oldest + 1) % this.#times.length;
    this.#length--;
  }
}

/** The failures in a row that a breaker goes by, wherever they are counted. No method may throw. */
export interface FailureStreak {
  /** A new incarnation of the machine takes over. */
  begin(): void;
  /** Counts a failure. Returns how many there are in a row, this one included; 0 when it is not one of the circuit as it stands. */
  failed(): number;
  /** An answer came, or the circuit closed. */
  end(): void;
}

/** A count of this process alone; a new incarnation starts anew. */
function createStreak(): FailureStreak {
  let failures = 0;
  const end = (): void => {
    failures = 0;
  };
  return { begin: end, failed: () => ++failures, end };
}
