/**
 * The permits of an integration, its bulkhead: how many attempts may be in flight. A permit is taken by an attempt and released when its
 * work ends or is abandoned.
 */
export class Permits {
  readonly #limit: number;
  readonly #maxAbandoned: number;
  #taken = 0;
  #abandoned = 0;
  /** Abandoned attempts that no longer count towards the bound. */
  #forgiven = 0;

  constructor(limits: { readonly maxInFlight: number; readonly maxAbandoned: number }) {
    this.#limit = limits.maxInFlight;
    this.#maxAbandoned = limits.maxAbandoned;
  }

  /** Attempts that were abandoned and whose work still runs. */
  get abandoned(): number {
    return this.#abandoned;
  }

  get free(): boolean {
    return this.#taken < this.#limit;
  }

  take(): void {
    this.#taken++;
  }

  release(): void {
    this.#taken--;
  }

  /** Gives the permit of an abandoned attempt to others. @returns false when there are more of them than may be replaced. */
  abandon(): boolean {
    this.#taken--;
    this.#abandoned++;
    return this.#withinBound;
  }

  /** The work of an abandoned attempt ended after all. @returns true when those that are left are within their bound. */
  reclaim(): boolean {
    this.#abandoned--;
    this.#forgiven = Math.min(this.#forgiven, this.#abandoned);
    return this.#withinBound;
  }

  /** Counts abandoned attempts from here on only. */
  forgive(): void {
    this.#forgiven = this.#abandoned;
  }

  get #withinBound(): boolean {
    return this.#abandoned - this.#forgiven <= this.#maxAbandoned;
  }
}
