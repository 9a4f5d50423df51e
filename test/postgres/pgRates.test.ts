import { describe, expect, it } from 'vitest';
import type { RateOrder } from '../../src/policy/rateLimit.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { newSchema } from '../store/startPostgres.ts';
import { now } from './claimedSession.ts';

const order = (requests: number): RateOrder => ({
  capacities: { requests: { limit: 60, perMs: 60_000 } },
  costs: { requests },
  spare: 0,
  patienceMs: Number.POSITIVE_INFINITY,
});

describe.skipIf(!hasPostgres)('rate limits that nodes share', () => {
  it('[N-5] are overdrawn by no more than a bucket a node, which all of them then wait for', async () => {
    const { open } = await newSchema();
    const [one, two] = [await open(), await open()];
    expect(one.rates.draw('kb', order(60), now).waitMs).toBe(0);
    expect(two.rates.draw('kb', order(60), now).waitMs).toBe(0);
    await Promise.all([one.flush(), two.flush()]);
    await Promise.all([one.look(), two.look()]);
    expect([one, two].map((store) => store.rates.draw('kb', order(1), now).waitMs)).toEqual([61_000, 61_000]);
  });

  it('[N-5] add up what many take at once', async () => {
    const { open } = await newSchema();
    const stores = await Promise.all([1, 2, 3, 4].map(() => open()));
    for (const store of stores) {
      for (let taken = 0; taken < 5; taken++) store.rates.draw('kb', order(1), now);
    }
    await Promise.all(stores.map((store) => store.flush()));
    const [first] = stores;
    await first?.look();
    expect(first?.rates.draw('kb', order(0), now).levels['requests']?.own?.level).toBe(40);
  });
});
