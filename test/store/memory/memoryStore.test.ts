import { describe, expect, it } from 'vitest';
import { failed, recordMany, startStore } from '../startStore.ts';

describe('a store in memory', () => {
  it('is what was asked for, and so not degraded', async () => {
    const { store, facts } = await startStore({ path: ':memory:' });
    store.record(failed(1));
    expect(store).toMatchObject({ kind: 'memory', path: ':memory:', degraded: false });
    expect(await store.flush()).toBe(true);
    expect(facts.all).toEqual([]);
  });

  it('[O-2] keeps the last 10,000 rows', async () => {
    const { store } = await startStore({ path: ':memory:' });
    recordMany(store, 25_000);
    const rows = await store.read({ limit: 100_000 });
    expect(rows).toHaveLength(10_000);
    expect([rows[0]?.metadata['call'], rows.at(-1)?.metadata['call']]).toEqual(['call-15000', 'call-24999']);
  });
});
