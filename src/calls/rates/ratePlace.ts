import type { HeaderSource } from '../../policy/failures/hints.ts';
import type { Costs } from '../../policy/rateLimit.ts';
import type { Deadline, DeadlineQueue } from '../deadlineQueue.ts';
import type { RateBucket, RateWait, RateWaiter } from './rateBucket.ts';

/** The part of a call that its place moves. */
export interface RatedCall extends Deadline {
  now(): number;
}

/** Parts of a place. `learns`: answers are believed. */
type PlaceParts = Pick<RatePlace, 'bucket' | 'costs' | 'typical'> & { readonly learns: boolean };

let lastTicket = 0;

/** Share of its bucket that a call takes with each attempt, and its place in the line. */
export class RatePlace implements RateWaiter {
  /** True while it is in the line. The bucket alone writes it. */
  inLine = false;
  /** The order of asking for the attempt at hand; 0 before it has waited. */
  ticket = 0;
  /** Time that it had to wait when it was last asked, in ms. */
  waitMs = 0;
  readonly bucket: RateBucket;
  /** Costs that each attempt is thought to have. */
  readonly costs: Costs;
  /** Is told what attempts really cost. */
  readonly typical: TypicalCosts;
  readonly #call: RatedCall;
  readonly #deadlines: DeadlineQueue;
  readonly #learns: boolean;

  constructor({ bucket, costs, typical, learns }: PlaceParts, call: RatedCall, deadlines: DeadlineQueue) {
    this.bucket = bucket;
    this.costs = costs;
    this.typical = typical;
    this.#learns = learns;
    this.#call = call;
    this.#deadlines = deadlines;
  }

  /** Waits in line, in the place that it had before, if it had one. @returns whether it is the first. */
  enter(): boolean {
    if (this.ticket === 0) this.ticket = ++lastTicket;
    return this.bucket.enter(this);
  }

  leave(): void {
    this.bucket.leave(this);
  }

  /** An attempt begins. The next one asks anew. */
  spend(): void {
    this.ticket = 0;
    this.bucket.spend(this);
  }

  /** It is the first in line now: looked at with the next deadlines. */
  wake(): void {
    // In the past, so that all that have come to their turn are looked at together.
    this.#call.due = Math.floor(Math.min(this.#call.due, this.#call.now()));
    this.#deadlines.set(this.#call);
  }

  get heldBack(): RateWait | undefined {
    return this.bucket.heldBack(this);
  }

  /** An answer has come. */
  learn(headers: HeaderSource): void {
    if (this.#learns) this.bucket.learnFrom(headers);
  }
}

/** Real costs that an attempt tells, as often as it likes: the last word counts. */
export class RealCosts {
  readonly #place: RatePlace;
  readonly #said = new Map<string, { readonly cost: number; readonly weight: number }>();

  constructor(place: RatePlace) {
    this.#place = place;
  }

  /** @param costs - in all; what is no number of at least 0 is left as it was estimated. */
  say(costs: Costs): void {
    const { bucket, typical, costs: estimated } = this.#place;
    const beyond: Record<string, number> = {};
    for (const [name, cost] of Object.entries(costs)) {
      if (!Number.isFinite(cost) || cost < 0) continue;
      const said = this.#said.get(name);
      const before = said?.cost ?? estimated[name] ?? 0;
      if (cost !== before) beyond[name] = cost - before;
      const weight = said?.weight ?? typical.add(name, cost);
      if (said !== undefined) typical.correct(name, cost - said.cost, weight);
      this.#said.set(name, { cost, weight });
    }
    if (Object.keys(beyond).length > 0) bucket.settle(beyond);
  }
}

/** So many attempts make a mean. */
const mostSamples = 8;

interface Mean {
  readonly value: number;
  readonly samples: number;
}

/** Real costs of the attempts of an integration of late, in the mean: for those of which nobody says it in advance. */
export class TypicalCosts {
  readonly #means = new Map<string, Mean>();

  /** By name; without what no attempt has told yet. */
  get all(): Costs {
    return Object.fromEntries(Array.from(this.#means, ([name, { value }]) => [name, value]));
  }

  /** An attempt says for the first time what it cost. @returns the weight of that. */
  add(name: string, cost: number): number {
    const { value, samples } = this.#means.get(name) ?? { value: 0, samples: 0 };
    const weight = 1 / Math.min(samples + 1, mostSamples);
    this.#means.set(name, { value: value + (cost - value) * weight, samples: samples + 1 });
    return weight;
  }

  /** It has another word, so much higher. @param weight - of its first word. */
  correct(name: string, by: number, weight: number): void {
    const mean = this.#means.get(name);
    if (mean !== undefined) this.#means.set(name, { ...mean, value: Math.max(0, mean.value + by * weight) });
  }
}
