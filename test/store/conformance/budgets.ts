import { describe, expect, it } from 'vitest';
import { BudgetAccount } from '../../../src/calls/rates/budgetAccount.ts';
import { budgetKeys } from '../../../src/policy/budget.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { readOptions } from '../../../src/policy/options/readOptions.ts';
import { StoredRates } from '../../../src/runtime/rateKeeper.ts';
import type { Store } from '../../../src/store/store.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import type { Engine } from './engine.ts';

const given = { session: { tokens: '10k' }, day: { requests: 10 } };
const one = { requests: 1 };

/** What any engine has to do with budgets: they are kept as buckets of rate limits are. */
export function keepsBudgets(engine: Engine): void {
  async function start() {
    const { one: first, two, share } = await engine.start();
    const clock = new SimulatedClock();
    const facts: Fact[] = [];
    const open = (store: Store) =>
      new BudgetAccount('session:main', readOptions('budget', given, budgetKeys), {
        keeper: new StoredRates(clock, () => store),
        facts: { tell: (fact: Fact) => void facts.push(fact) },
        accounts: new Map(),
      });
    return { here: open(first), there: open(two), share, clock, open: () => open(first), facts };
  }
  const used = (account: BudgetAccount) => account.standings().map((each) => each.used);

  describe('budgets', () => {
    it('[G-16] are those of all who share the store, the very first costs included', async () => {
      const { here, there, share } = await start();
      here.take({ requests: 4 });
      here.spend({ tokens: 1000 });
      await share();
      there.take({ requests: 5 });
      there.spend({ tokens: 500 });
      await share();
      expect([used(here), used(there)]).toEqual([
        [1500, 9],
        [1500, 9],
      ]);
      expect(here.take(one)).toBe(undefined);
      await share();
      expect(there.take(one)).toMatchObject({ metric: 'requests', used: 10 });
      await share();
      expect(used(here)).toEqual([1500, 10]);
    });

    it('[G-16] are raised for all of them, and begin anew with the day', async () => {
      const { here, there, share, clock, open } = await start();
      here.take({ requests: 10 });
      await share();
      there.raise('requests=12', {});
      await share();
      expect([here.take({ requests: 2 }), here.take(one)?.most]).toEqual([undefined, 12]);
      here.spend({ tokens: 700 });
      await share();
      await clock.advance(24 * 3_600_000);
      expect(open().standings()).toMatchObject([
        { metric: 'tokens', used: 700 },
        { metric: 'requests', used: 0, most: 10 },
      ]);
      expect(there.take(one)).toBe(undefined);
      await share();
      expect(used(here)).toEqual([700, 1]);
    });
  });
}
