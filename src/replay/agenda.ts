import type { Clock } from '../policy/clock.ts';

/** A clock that moves only when told to, as the one of `unwedge/testing`. */
export interface DrivenClock extends Clock {
  advance(ms: number): Promise<void>;
  stall(ms: number): void;
}

/** Events that come from outside, and when; in monotonic ms. Events of the same time come in the order of adding. */
export class Agenda {
  readonly #items: { readonly at: number; readonly run: () => void }[] = [];
  readonly #stalls: { readonly at: number; readonly ms: number }[] = [];

  add(at: number, run: () => void): void {
    this.#items.push({ at, run });
  }

  /** The event loop stood still from `at` on. */
  addStall(at: number, ms: number): void {
    this.#stalls.push({ at, ms });
  }

  /** Lets all of it happen, up to a time. */
  async run(clock: DrivenClock, until: number): Promise<void> {
    for (const { at, run } of this.#items.toSorted((one, other) => one.at - other.at)) clock.setTimeout(run, at);
    for (const { at, ms } of this.#stalls.toSorted((one, other) => one.at - other.at)) {
      if (at < clock.now() || at + ms > until) continue;
      await clock.advance(at - clock.now());
      clock.stall(ms);
    }
    await clock.advance(Math.max(0, until - clock.now()));
  }
}
