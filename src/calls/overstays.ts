import type { FailureFacts } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import { type AttemptKeeper, Overstay } from './overstay.ts';
import type { Stations } from './stations.ts';

/**
 * Work that goes on after its attempt was given up. It keeps its place until it ends, and is written off after its grace: the place is
 * given to others, up to a bound.
 */
export class Overstays<I, O> implements AttemptKeeper<I, O> {
  readonly #on: Stations<I, O>;
  /** Attempts whose work has its grace. */
  readonly #watched = new Set<Attempt<I, O>>();

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** Tells the work of an attempt to end, and watches it until it does or is written off. */
  begin(attempt: Attempt<I, O>, facts: FailureFacts): void {
    const { clock, policy, deadlines } = this.#on.parts;
    const overstay = new Overstay(this, attempt, facts, clock.now(), policy.abortGraceMs);
    attempt.overstay = overstay;
    if (!this.#on.stopped) {
      this.#watched.add(attempt);
      // Its caller has been told: a hung call must not keep the process alive for its grace.
      deadlines.setLoose(overstay);
    }
    attempt.abort(facts);
  }

  /** Such work has ended after all. */
  ended(attempt: Attempt<I, O>, overstay: Overstay<I, O>): void {
    const { parts, places, outage, gate } = this.#on;
    if (overstay.abandoned) {
      if (places.reclaim() && !this.#on.stopped) outage.withinBound();
      return;
    }
    places.release();
    this.#watched.delete(attempt);
    parts.deadlines.remove(overstay);
    gate.fillPlaces();
  }

  workOverstayed(attempt: Attempt<I, O>, overstay: Overstay<I, O>, now: number): void {
    const { parts, places, records, outage, gate } = this.#on;
    const { clock, policy, deadlines } = parts;
    const due = overstay.since + policy.abortGraceMs + (clock.stalls?.since(overstay.since) ?? 0);
    if (due > now) {
      overstay.due = Math.ceil(due);
      deadlines.setLoose(overstay);
      return;
    }
    this.#watched.delete(attempt);
    overstay.abandoned = true;
    const isReplaceable = places.abandon();
    records.attemptAbandoned(attempt, places.abandoned);
    if (!isReplaceable) outage.overwhelm();
    gate.fillPlaces();
  }

  /** From here on nothing waits for the end of work. */
  stop(): void {
    for (const { overstay } of this.#watched) if (overstay !== undefined) this.#on.parts.deadlines.remove(overstay);
    this.#watched.clear();
  }
}
