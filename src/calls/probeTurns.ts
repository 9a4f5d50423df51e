/**
 * Probes of reconcile rules under way at once for the calls of one integration. An outage that loses the answers of many calls must not have
 * all of them asked about in the moment in which the server comes back.
 */
export const mostProbes = 4;

/** Turns to ask: so many at once, the others wait in line, first come first. */
export class ProbeTurns<T> {
  readonly #asking = new Set<T>();
  readonly #line = new Set<T>();

  /** @returns whether it may ask now; otherwise it stands in line. */
  take(who: T): boolean {
    if (this.#asking.has(who)) return true;
    if (this.#asking.size < mostProbes) {
      this.#line.delete(who);
      this.#asking.add(who);
      return true;
    }
    this.#line.add(who);
    return false;
  }

  /** Gives back its turn, or its place in line. @returns who has the turn now. */
  leave(who: T): T | undefined {
    this.#line.delete(who);
    if (!this.#asking.delete(who)) return undefined;
    const [next] = this.#line;
    if (next !== undefined) this.take(next);
    return next;
  }
}
