import { describe, expect, it } from 'vitest';
import type { RateOrder } from '../../../src/policy/rateLimit.ts';
import { forgetRatesMs } from '../../../src/store/rates.ts';
import type { Engine } from './engine.ts';

const now = Date.UTC(2026, 0, 1);
const capacities = { requests: { limit: 60, perMs: 60_000 } };
const order = (requests: number, more: Partial<RateOrder> = {}): RateOrder => ({
  capacities,
  costs: { requests },
  spare: 0,
  patienceMs: Number.POSITIVE_INFINITY,
  ...more,
});

/** What any engine has to do with rate limits. */
export function keepsRates(engine: Engine): void {
  describe('rate limits', () => {
    it('[R-15] are those of all who share the store', async () => {
      const { one, two, share } = await engine.start();
      expect(one.rates.draw('kb', order(40), now)).toMatchObject({ granted: true, waitMs: 0 });
      await share();
      expect(two.rates.draw('kb', order(30), now)).toMatchObject({ granted: true, waitMs: 10_000 });
      await share();
      expect(one.rates.draw('kb', order(1), now)?.waitMs).toBe(11_000);
      expect(one.rates.draw('other', order(60), now)?.waitMs).toBe(0);
      await share();
      expect(two.rates.draw('kb', order(1, { patienceMs: 100 }), now)?.granted).toBe(false);
      expect(two.rates.draw('kb', order(1), now + 20_000)?.waitMs).toBe(0);
    });

    it('[R-15] are learned and settled by what one notes, for the others too', async () => {
      const { one, two, share } = await engine.start();
      one.rates.draw('kb', order(20), now);
      one.rates.note('kb', order(0, { debts: { requests: 20 } }), now);
      await share();
      expect(two.rates.draw('kb', order(0), now)?.levels['requests']?.own?.level).toBe(20);
      const learned = { requests: { limit: 60, remaining: 2, resetMs: 58_000 }, tokens: { limit: 1000 } };
      one.rates.note('kb', order(0, { learned }), now);
      await share();
      expect(two.rates.draw('kb', order(3), now)).toMatchObject({ waitMs: 1000, by: { of: 'requests' } });
      expect(two.rates.draw('kb', order(0), now)?.levels['tokens']?.told?.level).toBe(1000);
    });

    it('[R-15] that one has learned bind it at once, before anything is committed, and are kept once', async () => {
      const { one, two, share } = await engine.start();
      const unlimited = { capacities: {} };
      expect(one.rates.draw('kb', order(1, unlimited), now)?.waitMs).toBe(0);
      const learned = { requests: { limit: 60, remaining: 2 } };
      one.rates.note('kb', order(0, { ...unlimited, learned }), now);
      one.rates.note('kb', order(0, { ...unlimited, debts: { requests: 1 } }), now);
      expect(one.rates.draw('kb', order(2, unlimited), now)?.waitMs).toBe(1000);
      one.rates.note('kb', order(0, { ...unlimited, debts: { requests: 1 } }), now);
      await share();
      const level = (store: typeof one) =>
        store.rates.draw('kb', order(0, unlimited), now)?.levels['requests']?.told?.level;
      expect([level(one), level(two)]).toEqual([-2, -2]);
    });

    it('[R-15] of what nobody limits are kept nowhere', async () => {
      const { one, two, share } = await engine.start();
      const grant = one.rates.draw('kb', order(1, { capacities: {} }), now);
      expect(grant).toMatchObject({ granted: true, waitMs: 0, levels: {} });
      await share();
      expect(two.rates.draw('kb', order(0, { capacities: {} }), now)?.levels).toEqual({});
    });

    it('[R-15] are forgotten when nobody asked for long', async () => {
      const { one } = await engine.start();
      one.rates.draw('old', order(60), now);
      one.rates.draw('kb', order(1), now + forgetRatesMs + 1);
      expect(one.rates.draw('old', order(1), now)?.waitMs).toBe(0);
    });
  });
}
