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
