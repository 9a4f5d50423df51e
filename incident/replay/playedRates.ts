import type { DeadlineQueue } from '../../src/calls/face.ts';
import {
  IntegrationRates,
  RateBucket,
  RateBuckets,
  type RateKeeper,
  RatePlace,
  type RateWaiter,
  type RatedCall,
  TypicalCosts,
} from '../../src/calls/rates/face.ts';
import { type Clock, type RatePolicy, isRated, takeFrom } from '../../src/policy/face.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';

/** Shortest time that counts as a wait, in ms. */
const noWaitMs = 1;

/**
 * The rate limits of an integration in the replay; undefined where it has none. What calls cost, what answers told and what others took is
 * not on record: each attempt waits as long as it did, and is refused where it was. Those of an override are played with its requests alone.
 */
export function playedRates(
  { name, policy: { rate }, hasOwnRate }: IntegrationPlan,
  clock: Clock,
  deadlines: DeadlineQueue,
): IntegrationRates<PlannedCall> | undefined {
  if (!isRated(rate)) return undefined;
  const keeper = keeperOf(clock);
  const parts = { rates: new RateBuckets(keeper), deadlines };
  return hasOwnRate
    ? new IntegrationRates(name, requestsOf(rate), {}, parts)
    : new RecordedRates(name, requestsOf(rate), keeper, parts, clock);
}

function requestsOf({ requests, perMs }: RatePolicy): RatePolicy {
  return { requests, perMs, learn: false };
}

function keeperOf(clock: Clock): RateKeeper {
  const now = (): number => clock.wallNow();
  return {
    shared: false,
    now,
    draw: (_key, order, known) => takeFrom(known, order, now()),
    note: (_key, order, known) => takeFrom(known, order, now()).levels,
  };
}

class RecordedRates extends IntegrationRates<PlannedCall> {
  readonly #keeper: RateKeeper;
  readonly #deadlines: DeadlineQueue;
  readonly #clock: Clock;
  readonly #typical = new TypicalCosts();

  constructor(
    name: string,
    policy: RatePolicy,
    keeper: RateKeeper,
    parts: { readonly rates: RateBuckets; readonly deadlines: DeadlineQueue },
    clock: Clock,
  ) {
    super(name, policy, {}, parts);
    this.#keeper = keeper;
    this.#deadlines = parts.deadlines;
    this.#clock = clock;
  }

  override placeOf(planned: PlannedCall, call: RatedCall): RatePlace {
    const bucket = new RecordedBucket(planned, this.#keeper, this.#clock);
    return new RatePlace({ bucket, costs: {}, typical: this.#typical, learns: false }, call, this.#deadlines);
  }
}

/** The bucket of one call: it lets its attempts pass when they passed. It is asked last, so that nothing else kept them back. */
class RecordedBucket extends RateBucket {
  readonly #call: PlannedCall;
  readonly #clock: Clock;
  #attempts = 0;

  constructor(call: PlannedCall, keeper: RateKeeper, clock: Clock) {
    super(call.integration, {}, keeper);
    this.#call = call;
    this.#clock = clock;
  }

  override waitOf(_place: RateWaiter, patienceMs: number): number {
    const { attempts, end, isPending, pendingAt } = this.#call;
    const next = attempts.get(this.#attempts + 1);
    if (next !== undefined) return this.#until(next.startedAt);
    // An attempt that is not on record is one of another policy, but where the call ended or was under way before it.
    if (this.#attempts > 0 && attempts.size > 0 && end?.attempts !== this.#attempts) return 0;
    if (end === undefined) return isPending && pendingAt !== undefined ? patienceMs - noWaitMs : 0;
    const isOver = this.#until(end.at) === 0;
    if (!this.#isRefused) return isOver ? 0 : patienceMs - noWaitMs;
    return isOver ? patienceMs : Math.min(this.#until(end.at), patienceMs - noWaitMs);
  }

  override spend(place: RateWaiter): void {
    this.#attempts++;
    super.spend(place);
  }

  /** True where its rate limit ended it: no attempt before told of one. */
  get #isRefused(): boolean {
    const { attempts, end } = this.#call;
    return end?.failure.kind === 'rate_limit' && attempts.get(this.#attempts)?.failure?.kind !== 'rate_limit';
  }

  #until(at: number): number {
    const waitMs = at - this.#clock.now();
    return waitMs < noWaitMs ? 0 : waitMs;
  }
}
