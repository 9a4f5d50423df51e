import type { RateKeeper } from '../calls/rates/rateBucket.ts';
import type { Clock } from '../policy/clock.ts';
import { type RateGrant, type RateLevels, type RateOrder, takeFrom } from '../policy/rateLimit.ts';
import type { Store } from '../store/store.ts';

/** Keeps buckets in the runtime's store; without one, or when it cannot answer, this process goes on with what it knows. */
export class StoredRates implements RateKeeper {
  readonly #clock: Clock;
  readonly #store: () => Store | undefined;

  constructor(clock: Clock, store: () => Store | undefined) {
    this.#clock = clock;
    this.#store = store;
  }

  get shared(): boolean {
    return this.#store()?.persistent === true;
  }

  now(): number {
    return this.#clock.wallNow();
  }

  draw(key: string, order: RateOrder, known: RateLevels): RateGrant {
    const kept = this.#usable()?.rates.draw(key, order, this.now());
    return kept ?? { ...takeFrom(known, order, this.now()), isOwn: true };
  }

  note(key: string, order: RateOrder, known: RateLevels): RateLevels {
    this.#usable()?.rates.note(key, order, this.now());
    return takeFrom(known, order, this.now()).levels;
  }

  #usable(): Store | undefined {
    const store = this.#store();
    return store === undefined || store.degraded ? undefined : store;
  }
}
