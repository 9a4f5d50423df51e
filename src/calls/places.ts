/**
 * The places of an integration: how many attempts may be in flight, who waits for one, and what became of work that would not end.
 * A place is taken by an attempt and freed when its work ends or is written off.
 */
export class Places<W> {
  readonly limit: number;
  readonly queueLength: number;
  readonly maxAbandoned: number;
  readonly #queue = new Set<W>();
  #taken = 0;
  #abandoned = 0;
  /** Written-off work that no longer counts towards the bound. */
  #forgiven = 0;

  constructor(limits: { maxInFlight: number; queueLength: number; maxAbandoned: number }) {
    this.limit = limits.maxInFlight;
    this.queueLength = limits.queueLength;
    this.maxAbandoned = limits.maxAbandoned;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Attempts whose work was written off and still runs. */
  get abandoned(): number {
    return this.#abandoned;
  }

  get queued(): number {
    return this.#queue.size;
  }

  get free(): boolean {
    return this.#taken < this.limit;
  }

  take(): void {
    this.#taken++;
  }

  release(): void {
    this.#taken--;
  }

  /** Gives the place of work that would not end to others. False when there is more of it than may be replaced. */
  abandon(): boolean {
    this.#taken--;
    this.#abandoned++;
    return this.#withinBound;
  }

  /** Written-off work ended after all. True when what is left of it is within its bound. */
  reclaim(): boolean {
    this.#abandoned--;
    this.#forgiven = Math.min(this.#forgiven, this.#abandoned);
    return this.#withinBound;
  }

  /** Counts written-off work from here on only. */
  forgive(): void {
    this.#forgiven = this.#abandoned;
  }

  get #withinBound(): boolean {
    return this.#abandoned - this.#forgiven <= this.maxAbandoned;
  }

  /** Whether a new call may wait; calls that were accepted before may always. */
  get mayQueue(): boolean {
    return this.#queue.size < this.queueLength;
  }

  enqueue(waiter: W): void {
    this.#queue.add(waiter);
  }

  dequeue(waiter: W): void {
    this.#queue.delete(waiter);
  }

  /** Who has waited longest. */
  next(): W | undefined {
    for (const waiter of this.#queue) return waiter;
    return undefined;
  }
}
