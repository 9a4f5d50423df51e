import type { RateCapacity } from '../../policy/rateLimit.ts';
import { RateBucket, type RateKeeper } from './rateBucket.ts';

/** So many buckets are kept in memory; those for which nobody waits go first, the one that was not asked for longest before the others. */
const mostBuckets = 1000;

/** The buckets of a runtime by key, made when they are first asked for. */
export class RateBuckets {
  readonly #keeper: RateKeeper;
  readonly #most: number;
  readonly #buckets = new Map<string, RateBucket>();

  /** @param most - in memory; what waits is kept beyond that. */
  constructor(keeper: RateKeeper, most = mostBuckets) {
    this.#keeper = keeper;
    this.#most = most;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /**
   * The bucket of a key: the same for all who ask for it. Its key is kept as it is: it holds no credential, at most a hash of one.
   * @param capacities - of those who share it the tighter ones count. @defaultValue none: what answers tell
   */
  of(key: string, capacities?: Readonly<Record<string, RateCapacity>>): RateBucket {
    const known = this.#buckets.get(key);
    const bucket = known ?? new RateBucket(key, {}, this.#keeper);
    if (known !== undefined) this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (capacities !== undefined) bucket.tighten(capacities);
    if (this.#buckets.size > this.#most) this.#dropOne();
    return bucket;
  }

  /** Has the store know what it does not know yet. */
  flush(): void {
    for (const bucket of this.#buckets.values()) bucket.flush();
  }

  #dropOne(): void {
    for (const [key, bucket] of this.#buckets) {
      if (bucket.waiting > 0) continue;
      bucket.flush();
      this.#buckets.delete(key);
      return;
    }
  }
}
