import { longStallMs, wakeMs } from '../clock.ts';

/** Stalls that are remembered; of a wait that saw more of them, the first are counted. */
const mostKept = 1000;

interface Stall {
  readonly from: number;
  readonly until: number;
}

/** The times in which an event loop stood still. Times are monotonic, in ms. */
export class StallRecord {
  wakeUntil = Number.NEGATIVE_INFINITY;
  #stalls: Stall[] = [];

  /** A stall is over. It must not begin before the one before it ended. */
  add(from: number, until: number): void {
    this.#stalls.push({ from, until });
    if (this.#stalls.length > mostKept) this.#stalls = this.#stalls.slice(mostKept / 2);
    if (until - from >= longStallMs) this.wakeUntil = until + wakeMs;
  }

  since(at: number): number {
    let stalledMs = 0;
    for (let index = this.#stalls.length - 1; index >= 0; index--) {
      const { from, until } = this.#stalls[index] as Stall;
      if (until <= at) break;
      stalledMs += until - Math.max(from, at);
    }
    return stalledMs;
  }
}
