import { describe, expect, it } from 'vitest';
import { leaseShare } from '../../src/calls/rates/rateBucket.ts';
import { RateBuckets } from '../../src/calls/rates/rateBuckets.ts';
import { StoredRates } from '../../src/runtime/rateKeeper.ts';
import type { Store } from '../../src/store/store.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { hasSqlite, openDatabase, startStore } from '../store/startStore.ts';
import { fc } from '../support/property.ts';

const capacity = (limit: number) => ({ requests: { limit, perMs: 60_000 } });
const one = { requests: 1 };

/** What several processes have that share a file. */
async function startSharing(count: number) {
  const { store, clock, path } = await startStore();
  const stores = [store];
  while (stores.length < count) stores.push((await startStore({ path, clock })).store);
  const buckets = stores.map((each) => new RateBuckets(new StoredRates(clock, () => each)));
  return {
    clock,
    path,
    stores,
    buckets,
    bucket: (index: number, limit = 48) => buckets[index]?.of('kb', capacity(limit)),
  };
}

/** Counts how often a store is asked. */
function countDraws(store: Store): () => number {
  const draw = store.rates.draw.bind(store.rates);
  let draws = 0;
  store.rates.draw = (...order) => {
    draws++;
    return draw(...order);
  };
  return () => draws;
}

describe('rate limits in a store', () => {
  it('[R-15] go on in this process alone where the store does not answer', () => {
    const clock = new SimulatedClock();
    const broken = { degraded: false, persistent: true, rates: { draw: () => undefined, note: () => undefined } };
    const bucket = new RateBuckets(new StoredRates(clock, () => broken as never)).of('kb', capacity(2));
    expect([bucket.take(one), bucket.take(one), bucket.take(one)]).toEqual([0, 0, 30_000]);
  });

  it('[R-15] let nobody overtake who has waited longer, also where there is enough for both', () => {
    const bucket = new RateBuckets(new StoredRates(new SimulatedClock(), () => undefined)).of('kb', capacity(5));
    const place = (ticket: number) => ({ costs: one, ticket, inLine: false, wake: () => undefined });
    bucket.enter(place(2));
    expect(bucket.waitOf(place(3), Number.POSITIVE_INFINITY)).toBeGreaterThan(0);
    expect(bucket.waitOf(place(0), Number.POSITIVE_INFINITY)).toBeGreaterThan(0);
    expect(bucket.waitOf(place(1), Number.POSITIVE_INFINITY)).toBe(0);
  });

  it('[R-15] are kept in a bounded table, in which nobody is dropped who waits', () => {
    const clock = new SimulatedClock();
    const buckets = new RateBuckets(new StoredRates(clock, () => undefined), 3);
    const waits = { costs: one, ticket: 1, inLine: false, wake: () => undefined };
    buckets.of('waits', capacity(1)).enter(waits);
    const used = buckets.of('used', capacity(1));
    for (const key of ['a', 'b', 'c', 'd']) {
      buckets.of(key);
      expect(buckets.of('used')).toBe(used);
    }
    expect(buckets.size).toBe(3);
    expect(buckets.of('waits').waiting).toBe(1);
  });

  describe.runIf(hasSqlite)('that is a file', () => {
    it('[R-15] are asked for once in many calls, and hold for a restart', async () => {
      const { stores, buckets, bucket, clock, path } = await startSharing(1);
      const draws = countDraws(stores[0] as Store);
      for (let n = 0; n < 3200; n++) expect(bucket(0, 3200)?.take(one)).toBe(0);
      expect(draws()).toBeLessThanOrEqual(17);
      expect(leaseShare).toBe(1 / 16);
      for (const each of buckets) each.flush();
      const { store } = await startStore({ path, clock });
      expect(new RateBuckets(new StoredRates(clock, () => store)).of('kb', capacity(3200)).take(one)).toBeGreaterThan(
        0,
      );
    });

    it('[R-15] tell others of what one has learned, at once where it is tight', async () => {
      const { clock, stores, bucket } = await startSharing(2);
      bucket(0)?.take(one);
      bucket(0)?.learn({ requests: { limit: 48, remaining: 0, resetMs: 30_000, atOnce: true } });
      await stores[0]?.flush();
      expect(bucket(1)?.take(one)).toBe(30_000);
      await clock.advance(30_000);
      expect(bucket(1)?.take(one)).toBe(0);
    });

    it('[R-15] gather what is no news: a thousand answers are a few writes', async () => {
      const { clock, stores, bucket } = await startSharing(1);
      let notes = 0;
      const rates = (stores[0] as Store).rates;
      const note = rates.note.bind(rates);
      rates.note = (...order) => {
        notes++;
        note(...order);
      };
      for (let n = 0; n < 1000; n++) {
        bucket(0)?.learn({ requests: { limit: 48, remaining: 48 } });
        await clock.advance(2);
      }
      expect(notes).toBeLessThanOrEqual(4);
    });

    it('[R-15] [O-8] are kept under no key that could be a credential', async () => {
      const { buckets, stores, path } = await startSharing(1);
      buckets[0]?.of('planted-secret-4711', capacity(5)).take(one);
      await stores[0]?.flush();
      const rows = openDatabase(path).prepare('SELECT * FROM unwedge_rates').all();
      expect(rows).toHaveLength(1);
      expect(JSON.stringify(rows)).not.toContain('planted-secret');
    });

    it('[R-15] let several processes go no further beyond the limit than what each takes in advance', async () => {
      const limit = 48;
      const call = fc.tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 3000 }));
      const calls = fc.array(call, { minLength: 60, maxLength: 150 });
      await fc.assert(
        fc.asyncProperty(calls, async (asked) => {
          const { clock, bucket } = await startSharing(3);
          const made: number[] = [];
          for (const [which, afterMs] of asked) {
            if (bucket(which)?.take(one) === 0) made.push(clock.now());
            await clock.advance(Math.max(0, afterMs - 2000));
          }
          expect(made.length).toBeGreaterThan(30);
          // A sixteenth each, as the page says.
          const ahead = 3 * 3;
          for (const [from, at] of made.entries()) {
            for (let to = from; to < made.length; to++) {
              const comesBack = (((made[to] as number) - at) * limit) / 60_000;
              expect(to - from + 1).toBeLessThanOrEqual(limit + comesBack + ahead + 1e-6);
            }
          }
        }),
        { numRuns: 10 },
      );
    });
  });
});
