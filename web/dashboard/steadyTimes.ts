/** Times that come as "in so many ms" and are measured anew at each look would move by a few ms each time; what has hardly moved stays. */
export class SteadyTimes {
  readonly #known = new Map<string, number>();

  /** @param at - wall time in ms since the epoch. */
  of(key: string, at: number): number {
    const known = this.#known.get(key);
    if (known !== undefined && Math.abs(known - at) < hardlyMs) return known;
    if (this.#known.size >= mostKept) this.#known.clear();
    const whole = Math.round(at);
    this.#known.set(key, whole);
    return whole;
  }
}

const hardlyMs = 700;
const mostKept = 10_000;
