/** Amounts of what is counted, by name: `requests`, `tokens`, `inputTokens`, `outputTokens`, or any other. */
export type Costs = Readonly<Record<string, number>>;

/** Amount of something that may be used in a window; it comes back little by little. */
export interface RateCapacity {
  /** Above 0. */
  readonly limit: number;
  /** In ms, above 0. */
  readonly perMs: number;
}

/** Hint of an answer about one of its limits. Anything unknown is left out. */
export interface RateLimitHint {
  /** Amount in a window, above 0. */
  readonly limit?: number | undefined;
  /** Amount that is left, at least 0. */
  readonly remaining?: number | undefined;
  /** Time when all of it is there again, in ms from now. */
  readonly resetMs?: number | undefined;
  /** The length of the window, in ms. */
  readonly perMs?: number | undefined;
  /** True where nothing comes back before the reset, as in a fixed window. @defaultValue false: it comes back little by little */
  readonly atOnce?: boolean | undefined;
}

/** Hints by the name of what is counted. */
export type RateLimitHints = Readonly<Record<string, RateLimitHint>>;

/** Amount that is left of a limit. Times are wall time in ms: processes share them. */
interface RateLevel {
  /** Below 0: so much is promised to calls that wait. */
  readonly level: number;
  /** Time when that was so. */
  readonly at: number;
}

/** The same of a limit that answers told. */
interface ToldLevel extends RateLevel {
  readonly limit: number;
  /** The window, where an answer said it. */
  readonly perMs?: number | undefined;
  /** Time when it is full again, but for what was `taken` since somebody said so. */
  readonly fullAt?: number | undefined;
  readonly taken?: number | undefined;
  readonly atOnce?: boolean | undefined;
}

/** Rest of one thing that is counted. Both hold: the limit that is configured, and the one that answers told. */
interface RateLevelPair {
  readonly own?: RateLevel | undefined;
  readonly told?: ToldLevel | undefined;
}

/** By the name of what is counted; of what has no limit there is none. */
export type RateLevels = Readonly<Record<string, RateLevelPair>>;

/** Order to a bucket. */
export interface RateOrder {
  /** Capacities that are configured. */
  readonly capacities: Readonly<Record<string, RateCapacity>>;
  /** Costs to be taken: all of it or nothing. */
  readonly costs: Costs;
  /** The share of each limit that is taken in advance where it is there now, from 0 to 1. */
  readonly spare: number;
  /** The longest wait, in ms; what would wait longer takes nothing. */
  readonly patienceMs: number;
  /** Amounts spent beyond what was taken; below 0: less. */
  readonly debts?: Costs | undefined;
  /** Hints that answers told since the last order. */
  readonly learned?: RateLimitHints | undefined;
}

/** Outcome of an order. */
export interface RateGrant {
  /** True where the costs were taken. */
  readonly granted: boolean;
  /** Time when they may be used, in ms from now; of what was not granted, when it would have been. */
  readonly waitMs: number;
  /** The limit that is waited for longest; undefined where none is. */
  readonly by: RateName | undefined;
  /** Costs that were taken in advance. */
  readonly spare: Costs;
  readonly levels: RateLevels;
  /** True where the store did not answer: others do not know of it. @defaultValue false */
  readonly isOwn?: boolean | undefined;
}

/** A limit, with what it counts. */
export interface RateName extends RateCapacity {
  readonly of: string;
}

/** The window where neither the configuration nor the answers say. */
export const usualWindowMs = 60_000;

/** Windows are taken for no shorter and no longer than this, in ms: what answers say is rounded. */
const shortestWindowMs = 1000;
const longestWindowMs = 24 * 3_600_000;

/** Parts of a limit that are no more than rounding. */
const rounding = 1e-9;

/**
 * Takes from a bucket: what is there now at once, else what comes back first, in the order of asking. A cost above its limit waits for a full
 * bucket, and what follows waits for the rest. Changes nothing in `levels`.
 * @param now - wall time in ms.
 */
export function takeFrom(levels: RateLevels, order: RateOrder, now: number): RateGrant {
  const { capacities, costs, patienceMs, learned = {} } = order;
  const current: Record<string, RateLevelPair> = {};
  for (const name of new Set([...Object.keys(capacities), ...Object.keys(levels), ...Object.keys(learned)])) {
    const pair = broughtUpToDate(name, levels[name] ?? {}, order, now);
    if (pair.own !== undefined || pair.told !== undefined) current[name] = pair;
  }
  const { waitMs, by } = longest(current, capacities, costs, now, true);
  const granted = waitMs === 0 || waitMs < patienceMs;
  if (!granted) return { granted, waitMs, by, spare: {}, levels: current };
  const spare: Record<string, number> = {};
  const left: Record<string, RateLevelPair> = {};
  for (const [name, pair] of Object.entries(current)) {
    const cost = costs[name] ?? 0;
    const bounds = boundsOf(pair, capacities[name]);
    const most = bounds.map(({ level, limit }) => Math.min(limit * order.spare, level.level - cost));
    const more = waitMs > 0 ? 0 : Math.max(0, Math.floor(Math.min(...most)));
    spare[name] = more;
    left[name] = without(pair, cost + more);
  }
  return { granted, waitMs, by, spare, levels: left };
}

/** Tells how long these costs would wait behind all that was promised, in ms, and for which limit. @param now - wall time in ms. */
export function outlook(
  levels: RateLevels,
  capacities: RateOrder['capacities'],
  costs: Costs,
  now: number,
): Pick<RateGrant, 'waitMs' | 'by'> {
  const current = Object.entries(levels).map(([name, pair]) => [name, refilledPair(pair, capacities[name], now)]);
  return longest(Object.fromEntries(current) as RateLevels, capacities, costs, now, false);
}

/** Joins two limits for the same: no more at once than either, and no faster. */
export function tighter(one: RateCapacity | undefined, other: RateCapacity): RateCapacity {
  if (one === undefined) return other;
  const limit = Math.min(one.limit, other.limit);
  return { limit, perMs: limit / Math.min(one.limit / one.perMs, other.limit / other.perMs) };
}

/** A limit as it stands. */
interface Bound {
  readonly level: RateLevel & Partial<ToldLevel>;
  readonly limit: number;
  /** Amount that comes back, in units per ms. */
  readonly rate: number;
}

/** @param caps - whether a cost above a limit waits for no more than the limit. */
function longest(
  levels: RateLevels,
  capacities: RateOrder['capacities'],
  costs: Costs,
  now: number,
  caps: boolean,
): Pick<RateGrant, 'waitMs' | 'by'> {
  let waitMs = 0;
  let by: RateName | undefined;
  for (const [of, pair] of Object.entries(levels)) {
    const cost = costs[of] ?? 0;
    for (const bound of cost > 0 ? boundsOf(pair, capacities[of]) : []) {
      const mustWaitMs = waitFor(bound, caps ? Math.min(cost, bound.limit) : cost, now);
      if (mustWaitMs <= waitMs) continue;
      waitMs = mustWaitMs;
      by = { of, limit: bound.limit, perMs: bound.limit / bound.rate };
    }
  }
  return { waitMs, by };
}

function boundsOf({ own, told }: RateLevelPair, capacity: RateCapacity | undefined): readonly Bound[] {
  const bounds: Bound[] = [];
  if (own !== undefined && capacity !== undefined) bounds.push(ownBound(own, capacity));
  if (told !== undefined) bounds.push(toldBound(told, capacity));
  return bounds;
}

function ownBound(level: RateLevel, { limit, perMs }: RateCapacity): Bound {
  return { level, limit, rate: limit / perMs };
}

function toldBound(level: ToldLevel, capacity: RateCapacity | undefined): Bound {
  const { limit, perMs = capacity?.perMs ?? usualWindowMs } = level;
  return { level, limit, rate: limit / perMs };
}

/** Refilled, settled and corrected by what answers told. */
function broughtUpToDate(
  name: string,
  known: RateLevelPair,
  { capacities, debts, learned }: RateOrder,
  now: number,
): RateLevelPair {
  const capacity = capacities[name];
  const own = known.own ?? (capacity && { level: capacity.limit, at: now });
  const refilled = refilledPair({ ...known, own }, capacity, now);
  const settled = capped(without(refilled, debts?.[name] ?? 0), capacity);
  const hint = learned?.[name];
  return hint === undefined ? settled : { ...settled, told: corrected(settled.told, hint, capacity, now) };
}

function refilledPair({ own, told }: RateLevelPair, capacity: RateCapacity | undefined, now: number): RateLevelPair {
  return {
    own: own && capacity && refilled(own, ownBound(own, capacity), now),
    told: told && refilled(told, toldBound(told, capacity), now),
  };
}

/** Caps the levels: what was given back fills no bucket beyond its limit. */
function capped({ own, told }: RateLevelPair, capacity: RateCapacity | undefined): RateLevelPair {
  const most = capacity?.limit ?? Number.POSITIVE_INFINITY;
  return {
    own: own && { ...own, level: Math.min(own.level, most) },
    told: told && { ...told, level: Math.min(told.level, told.limit) },
  };
}

/** Corrects it: what is left is never more than an answer says. Its reset is when all is there again, not the earliest next try. */
function corrected(
  known: ToldLevel | undefined,
  hint: RateLimitHint,
  capacity: RateCapacity | undefined,
  now: number,
): ToldLevel | undefined {
  const limit = hint.limit ?? known?.limit ?? capacity?.limit;
  if (limit === undefined) return undefined;
  const { remaining = limit, resetMs } = hint;
  const perMs = hint.perMs ?? windowIn(hint) ?? known?.perMs;
  const told: ToldLevel = { ...known, limit, perMs, at: now, level: Math.min(known?.level ?? limit, limit, remaining) };
  if (resetMs === undefined) return told;
  return { ...told, fullAt: now + resetMs, taken: 0, atOnce: hint.atOnce === true ? true : undefined };
}

/** The window that follows from how long the rest takes; not from so little of it that rounding decides. */
function windowIn({ limit, remaining, resetMs, atOnce }: RateLimitHint): number | undefined {
  if (limit === undefined || remaining === undefined || resetMs === undefined || atOnce === true) return undefined;
  const used = limit - remaining;
  if (used <= 0 || (used < limit / 10 && resetMs < 10_000) || resetMs <= 0) return undefined;
  return Math.min(longestWindowMs, Math.max(shortestWindowMs, (limit * resetMs) / used));
}

function refilled<L extends RateLevel & Partial<ToldLevel>>(known: L, { limit, rate }: Bound, now: number): L {
  // A wall clock that stepped back brings nothing back, and puts nothing off.
  const steppedMs = Math.min(0, now - known.at);
  const at = known.at + steppedMs;
  if (known.fullAt === undefined) return { ...known, level: Math.min(limit, known.level + rate * (now - at)), at: now };
  const fullAt = known.fullAt + steppedMs;
  const speed = known.atOnce === true ? 0 : rate;
  if (now < fullAt) return { ...known, level: Math.min(limit, known.level + speed * (now - at)), at: now, fullAt };
  const before = known.level + speed * Math.max(0, fullAt - at);
  const atReset = Math.min(limit, Math.max(before, limit - (known.taken ?? 0)));
  const level = Math.min(limit, atReset + rate * (now - Math.max(fullAt, at)));
  return { ...known, level, at: now, fullAt: undefined, taken: undefined, atOnce: undefined };
}

function without({ own, told }: RateLevelPair, cost: number): RateLevelPair {
  if (cost === 0) return { own, told };
  const since = told?.fullAt === undefined ? undefined : (told.taken ?? 0) + cost;
  return {
    own: own && { ...own, level: own.level - cost },
    told: told && { ...told, level: told.level - cost, taken: since },
  };
}

/** Tells when there is so much, in ms from now; the level is that of now. */
function waitFor({ level, limit, rate }: Bound, cost: number, now: number): number {
  const { fullAt, taken = 0, atOnce } = level;
  const short = cost - level.level;
  if (short <= limit * rounding) return 0;
  const byAndBy = short / rate;
  if (fullAt === undefined) return byAndBy;
  const afterReset = fullAt - now + Math.max(0, cost - (limit - taken)) / rate;
  return atOnce === true ? afterReset : Math.min(byAndBy, afterReset);
}
