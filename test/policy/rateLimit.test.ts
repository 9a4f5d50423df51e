import { describe, expect, it } from 'vitest';
import { type RateLevels, type RateLimitHints, type RateOrder, takeFrom, tighter } from '../../src/policy/rateLimit.ts';
import { fc } from '../support/property.ts';

const minute = 60_000;
const capacities = { requests: { limit: 60, perMs: minute } };
const order = (more: Partial<RateOrder> = {}): RateOrder => ({
  capacities,
  costs: { requests: 1 },
  spare: 0,
  patienceMs: Number.POSITIVE_INFINITY,
  ...more,
});

/** A bucket as a test uses it. */
function bucket() {
  let levels: RateLevels = {};
  return {
    take(now: number, more?: Partial<RateOrder>) {
      const grant = takeFrom(levels, order(more), now);
      levels = grant.levels;
      return grant;
    },
    learn: (now: number, learned: RateLimitHints, more?: Partial<RateOrder>) => {
      levels = takeFrom(levels, order({ costs: {}, learned, ...more }), now).levels;
    },
    level: (name = 'requests') => levels[name]?.own?.level,
    told: (name = 'requests') => levels[name]?.told?.level,
  };
}

describe('a bucket of rate limits', () => {
  it('[R-15] gives all at once when it is full, and then what comes back little by little, in order', () => {
    const { take } = bucket();
    for (let n = 0; n < 60; n++) expect(take(0).waitMs).toBe(0);
    expect(take(0)).toMatchObject({ granted: true, waitMs: 1000, by: { of: 'requests', limit: 60, perMs: minute } });
    expect(take(0).waitMs).toBe(2000);
    expect(take(500).waitMs).toBe(2500);
    expect(take(10_000).waitMs).toBe(0);
  });

  it('[R-15] takes nothing for who would wait too long', () => {
    const { take, level } = bucket();
    take(0, { costs: { requests: 60 } });
    expect(take(0, { patienceMs: 1000 })).toMatchObject({ granted: false, waitMs: 1000 });
    expect(level()).toBe(0);
    expect(take(0, { patienceMs: 1001 })).toMatchObject({ granted: true, waitMs: 1000 });
  });

  it('[R-15] has all of several limits hold, and names the one that is waited for', () => {
    const both = { ...capacities, tokens: { limit: 1000, perMs: minute } };
    const { take, level } = bucket();
    expect(take(0, { capacities: both, costs: { requests: 1, tokens: 900 } }).waitMs).toBe(0);
    expect(take(0, { capacities: both, costs: { requests: 1, tokens: 200 } })).toMatchObject({
      waitMs: 6000,
      by: { of: 'tokens' },
    });
    expect(level()).toBe(58);
  });

  it('[R-15] has a cost above its limit wait for a full bucket, and others pay for the rest', () => {
    const { take } = bucket();
    take(0);
    expect(take(0, { costs: { requests: 90 } }).waitMs).toBe(1000);
    expect(take(1000).waitMs).toBe(31_000);
  });

  it('[R-15] is corrected downwards by what is left, and is full again at the reset', () => {
    const { take, learn, told } = bucket();
    const none = { capacities: {} };
    learn(0, { requests: { limit: 60, remaining: 50 } }, none);
    take(0, none);
    learn(0, { requests: { limit: 60, remaining: 55 } }, none);
    expect(told()).toBe(49);
    learn(0, { requests: { limit: 60, remaining: 0, resetMs: 6000 } }, none);
    expect(take(0, none).waitMs).toBeCloseTo(100);
    expect(take(6000, none).waitMs).toBe(0);
    expect(told()).toBe(58);
  });

  it('[R-15] gives nothing back before the end of a fixed window, and all of it then', () => {
    const { take, learn, told } = bucket();
    const none = { capacities: {} };
    learn(0, { requests: { limit: 60, remaining: 0, resetMs: 30_000, atOnce: true } }, none);
    expect(take(0, none).waitMs).toBe(30_000);
    expect(take(10_000, none).waitMs).toBe(20_000);
    expect(take(30_000, none).waitMs).toBe(0);
    expect(told()).toBe(57);
  });

  it('[R-15] holds to what is configured and to what answers tell, each at its own speed', () => {
    const { learn, take } = bucket();
    learn(0, { requests: { limit: 5000, remaining: 3, resetMs: 60 * minute, atOnce: true } });
    expect(take(0, { costs: { requests: 3 } }).waitMs).toBe(0);
    expect(take(minute, { patienceMs: minute })).toMatchObject({ granted: false, waitMs: 59 * minute });
    // A long window that has room does not keep the short one from coming back.
    learn(2 * minute, { requests: { limit: 5000, remaining: 4000, resetMs: 58 * minute, atOnce: true } });
    const other = bucket();
    other.learn(0, { requests: { limit: 5000, remaining: 4000, resetMs: 60 * minute, atOnce: true } });
    other.take(0, { costs: { requests: 60 } });
    expect(other.take(minute, { costs: { requests: 60 } }).waitMs).toBe(0);
    expect(tighter({ limit: 1000, perMs: 60 * minute }, { limit: 50, perMs: minute })).toEqual({
      limit: 50,
      perMs: 3 * minute,
    });
  });

  it('[R-15] learns a window from how long the rest takes: 10,000 a day, told as one in 8.64 s', () => {
    const { take, learn } = bucket();
    learn(0, { requests: { limit: 10_000, remaining: 9998, resetMs: 17_280 } }, { capacities: {} });
    take(0, { capacities: {}, costs: { requests: 9998 } });
    expect(take(17_280, { capacities: {}, costs: { requests: 3 } }).waitMs).toBeCloseTo(8640);
  });

  it('[R-15] has no limit for what nobody limits', () => {
    expect(takeFrom({}, order({ capacities: {}, costs: { tokens: 1e9 } }), 0)).toEqual({
      granted: true,
      waitMs: 0,
      by: undefined,
      spare: {},
      levels: {},
    });
  });

  it('[R-15] brings nothing back when the clock steps back, and does not wait for the time it lost', () => {
    const { take, learn } = bucket();
    take(100 * minute, { costs: { requests: 60 } });
    expect(take(minute).waitMs).toBe(1000);
    learn(minute, { requests: { limit: 60, remaining: 0, resetMs: 5000, atOnce: true } });
    expect(take(0, { patienceMs: 0 }).waitMs).toBe(5000);
  });

  it('[R-15] settles what was spent beyond, and gives back what was not', () => {
    const { take, level } = bucket();
    take(0, { costs: { requests: 10 }, debts: { requests: 20 } });
    expect(level()).toBe(30);
    take(0, { costs: {}, debts: { requests: -100 } });
    expect(level()).toBe(60);
  });

  it('[R-15] never gives more in any time than is there and comes back', () => {
    const step = fc.record({ afterMs: fc.integer({ min: 0, max: 5000 }), cost: fc.integer({ min: 1, max: 20 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const { take } = bucket();
        const used: { readonly at: number; readonly cost: number }[] = [];
        let now = 0;
        for (const { afterMs, cost } of steps) {
          now += afterMs;
          const { waitMs } = take(now, { costs: { requests: cost } });
          used.push({ at: now + waitMs, cost });
        }
        for (const [from, { at }] of used.entries()) {
          let sum = 0;
          for (const later of used.slice(from)) {
            sum += later.cost;
            expect(sum).toBeLessThanOrEqual(60 + (later.at - at) / 1000 + 1e-6);
          }
        }
      }),
    );
  });
});
