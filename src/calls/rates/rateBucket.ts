import type { HeaderSource } from '../../policy/failures/hints.ts';
import {
  type Costs,
  outlook,
  type RateCapacity,
  type RateGrant,
  type RateLevels,
  type RateLimitHints,
  type RateName,
  type RateOrder,
  tighter,
} from '../../policy/rateLimit.ts';
import { rateLimitHints } from '../../policy/failures/rateLimitHints.ts';

/** Keeper of the levels of buckets, for this process alone or for all that share a store. */
export interface RateKeeper {
  /** Wall time in ms. */
  now(): number;
  /** True where taking costs so much that more than one call's is taken at once, and hints of answers are gathered. */
  readonly shared: boolean;
  /** Takes from a bucket now. @param known - the levels as they were last seen, should the store not answer. Never throws. */
  draw(key: string, order: RateOrder, known: RateLevels): RateGrant;
  /** Has others know what was told and spent, soon. Never throws. */
  note(key: string, order: RateOrder, known: RateLevels): RateLevels;
}

/** A call that may wait in the line of a bucket. */
export interface RateWaiter {
  readonly costs: Costs;
  /** The order of asking; 0 before it has waited. */
  readonly ticket: number;
  /** True while it is in the line. The bucket alone writes it. */
  inLine: boolean;
  /** It is the first in line now. */
  wake(): void;
}

/** The limit that holds a call back, for people. */
export interface RateWait extends RateName {
  /** Time that it takes as of now, in ms. */
  readonly waitMs: number;
}

/** The share of a limit that is taken from a shared store at once: so much each process may be ahead of it. */
export const leaseShare = 1 / 16;

/** Time in ms that hints of answers may wait before others are told. */
const gatherMs = 1000;

/**
 * A bucket of rate limits, and the calls that wait for it, in the order in which they came. The levels are kept by somebody else; here is
 * what was taken from there and not used yet.
 */
export class RateBucket {
  readonly key: string;
  readonly #keeper: RateKeeper;
  #capacities: Readonly<Record<string, RateCapacity>>;
  /** The levels as they were last seen. */
  #levels: RateLevels = {};
  #seen = false;
  /** Amounts that were taken and not used. */
  readonly #lease = new Map<string, number>();
  /** From when on the lease may be used: what has yet to come back is promised to the first in line. */
  #leaseFrom = Number.NEGATIVE_INFINITY;
  /** The limit that was waited for last. */
  #by: RateName | undefined = undefined;
  /** Sorted by ticket. */
  readonly #line: RateWaiter[] = [];
  readonly #asked = new Map<string, number>();
  #debts: Record<string, number> = {};
  #learned: RateLimitHints | undefined = undefined;
  #heardAt = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(key: string, capacities: Readonly<Record<string, RateCapacity>>, keeper: RateKeeper) {
    this.key = key;
    this.#capacities = capacities;
    this.#keeper = keeper;
  }

  /** Number of calls that wait for it. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Somebody else who shares it has limits too; of those for the same the tighter one counts. */
  tighten(capacities: Readonly<Record<string, RateCapacity>>): void {
    const merged = { ...this.#capacities };
    for (const [name, capacity] of Object.entries(capacities)) {
      merged[name] = tighter(merged[name], capacity);
    }
    this.#capacities = merged;
  }

  /**
   * Takes these costs if they are there and nobody waits for them. For those who do not call through an integration.
   * @returns 0 when they were taken; else when to come again, in ms from now.
   */
  take(costs: Costs): number {
    if (this.#line.length > 0) return Math.max(1, this.#behind(costs));
    const waitMs = this.#reserve(costs, 0);
    if (waitMs === 0) this.#spend(costs);
    return waitMs;
  }

  /**
   * Returns the time that a call has to wait, in ms; 0: it may be dispatched now. The wait of the first in line is promised to it.
   * @param patienceMs - what takes as long or longer is promised to nobody.
   */
  waitOf(place: RateWaiter, patienceMs: number): number {
    const first = this.#line[0];
    // Also where there is enough for both: the first in line is about to go.
    if (first !== undefined && (place.ticket === 0 || first.ticket < place.ticket)) {
      return Math.max(1, this.#behind(place.costs));
    }
    return this.#reserve(place.costs, patienceMs);
  }

  /** Lets a call wait in its order. @returns whether it is the first in line. */
  enter(place: RateWaiter): boolean {
    const line = this.#line;
    place.inLine = true;
    // Behind those that came before it, also where it comes for the second time.
    let at = line.length;
    while (at > 0 && (line[at - 1] as RateWaiter).ticket > place.ticket) at--;
    line.splice(at, 0, place);
    this.#addToLine(place.costs, 1);
    return at === 0;
  }

  /** A call waits no more, whatever for. */
  leave(place: RateWaiter): void {
    if (!place.inLine) return;
    place.inLine = false;
    const at = this.#line.indexOf(place);
    this.#line.splice(at, 1);
    this.#addToLine(place.costs, -1);
    if (at === 0) this.#line[0]?.wake();
  }

  /** A call is dispatched. One that could not wait, as a probe, may take more than there is. */
  spend(place: RateWaiter): void {
    this.#spend(place.costs);
    this.#line[0]?.wake();
  }

  /** Settles the real costs, beyond what was taken; below 0: less. */
  settle(beyond: Costs): void {
    for (const [name, cost] of Object.entries(beyond)) {
      // Debts are felt at once; a surplus that is given back may go to others.
      if (cost > 0) this.#lease.set(name, (this.#lease.get(name) ?? 0) - cost);
      else this.#debts[name] = (this.#debts[name] ?? 0) + cost;
    }
    this.#tellSoon();
  }

  /** Corrects it by the headers of an answer. */
  learnFrom(headers: HeaderSource): void {
    this.learn(rateLimitHints(headers, this.#keeper.now()));
  }

  /** Corrects it by what an answer told. */
  learn(hints: RateLimitHints): void {
    if (Object.keys(hints).length === 0) return;
    this.#learned = { ...this.#agedHints(), ...hints };
    this.#heardAt = this.#keeper.now();
    let isTighter = false;
    for (const [name, { remaining, limit }] of Object.entries(hints)) {
      const told = this.#levels[name]?.told;
      const lease = this.#lease.get(name) ?? 0;
      isTighter ||= told === undefined || (limit !== undefined && limit !== told.limit);
      if (remaining === undefined) continue;
      isTighter ||= remaining < (told?.level ?? 0) / 2;
      if (remaining >= lease) continue;
      // It was taken, and is not there: given back, so that the correction finds all of it.
      this.#lease.set(name, remaining);
      this.#debts[name] = (this.#debts[name] ?? 0) - (lease - remaining);
    }
    if (isTighter) this.#tell();
    else this.#tellSoon();
  }

  /** Finds the wait that holds these costs back as of now; undefined where nothing does. */
  heldBack(place: RateWaiter): RateWait | undefined {
    const isFirst = this.#line[0] === place;
    const waitMs = isFirst ? this.#leaseFrom - this.#keeper.now() : this.#behind(place.costs, place);
    return this.#by === undefined ? undefined : { ...this.#by, waitMs: Math.max(0, waitMs) };
  }

  /** Tells others what they do not know yet. */
  flush(): void {
    if (this.#learned !== undefined || Object.keys(this.#debts).length > 0) this.#tell();
  }

  /** @returns how long to wait; what is missing of the costs is taken into the lease, unless that takes too long. */
  #reserve(costs: Costs, patienceMs: number): number {
    const missing = this.#missing(costs);
    const now = this.#keeper.now();
    const promisedMs = Math.max(0, this.#leaseFrom - now);
    if (missing === undefined) return promisedMs;
    const spare = this.#keeper.shared ? leaseShare : 0;
    const grant = this.#keeper.draw(this.key, this.#order(missing, spare, patienceMs), this.#levels);
    this.#told(grant.levels);
    if (grant.by !== undefined) this.#by = grant.by;
    if (!grant.granted) return grant.waitMs;
    for (const name of Object.keys(grant.levels)) {
      this.#lease.set(name, (this.#lease.get(name) ?? 0) + (missing[name] ?? 0) + (grant.spare[name] ?? 0));
    }
    if (grant.waitMs > 0) this.#leaseFrom = Math.max(this.#leaseFrom, now + grant.waitMs);
    return Math.max(promisedMs, grant.waitMs);
  }

  /** Returns the costs that were not taken yet; undefined when there are none. Costs without a limit need nothing. */
  #missing(costs: Costs): Record<string, number> | undefined {
    let missing: Record<string, number> | undefined;
    for (const name in costs) {
      const short = (costs[name] as number) - (this.#lease.get(name) ?? 0);
      const isLimited = this.#levels[name] !== undefined || this.#capacities[name] !== undefined;
      if (short > 0 && (isLimited || !this.#seen)) (missing ??= {})[name] = short;
    }
    return this.#seen ? missing : (missing ?? {});
  }

  #spend(costs: Costs): void {
    for (const name in costs) {
      if (this.#levels[name] === undefined) continue;
      this.#lease.set(name, (this.#lease.get(name) ?? 0) - (costs[name] as number));
    }
  }

  /** Returns the time that costs wait behind all that are in line, or behind those before one of them. */
  #behind(costs: Costs, place?: RateWaiter): number {
    const all: Record<string, number> = {};
    const before = place?.inLine === true ? this.#line.slice(0, this.#line.indexOf(place)) : undefined;
    for (const name of Object.keys(this.#levels)) {
      const asked = before?.reduce((sum, each) => sum + (each.costs[name] ?? 0), 0) ?? this.#asked.get(name) ?? 0;
      const wanted = asked + (costs[name] ?? 0) - (this.#lease.get(name) ?? 0);
      if (wanted > 0) all[name] = wanted;
    }
    const now = this.#keeper.now();
    const { waitMs, by } = outlook(this.#levels, this.#capacities, all, now);
    if (by !== undefined) this.#by = by;
    return Math.max(waitMs, this.#leaseFrom - now, 0);
  }

  #addToLine(costs: Costs, sign: 1 | -1): void {
    for (const [name, cost] of Object.entries(costs)) {
      this.#asked.set(name, (this.#asked.get(name) ?? 0) + sign * cost);
    }
    if (this.#line.length === 0) this.#asked.clear();
  }

  #tellSoon(): void {
    if (!this.#keeper.shared || this.#keeper.now() - this.#toldAt >= gatherMs) this.#tell();
  }

  #tell(): void {
    this.#told(this.#keeper.note(this.key, this.#order({}, 0, 0), this.#levels));
  }

  #told(levels: RateLevels): void {
    this.#levels = levels;
    this.#seen = true;
    this.#debts = {};
    this.#learned = undefined;
    this.#toldAt = this.#keeper.now();
  }

  #order(costs: Costs, spare: number, patienceMs: number): RateOrder {
    const learned = this.#agedHints();
    return { capacities: this.#capacities, costs, spare, patienceMs, debts: this.#debts, learned };
  }

  /** Returns the hints as they are to be told now: part of the time until a reset has passed. */
  #agedHints(): RateLimitHints | undefined {
    const ageMs = this.#keeper.now() - this.#heardAt;
    if (this.#learned === undefined || ageMs <= 0) return this.#learned;
    const aged = Object.entries(this.#learned).map(([name, hint]) => {
      const { resetMs } = hint;
      return [name, resetMs === undefined ? hint : { ...hint, resetMs: Math.max(0, resetMs - ageMs) }] as const;
    });
    return Object.fromEntries(aged);
  }
}
