import { describe, expect, it } from 'vitest';
import { failed, recordMany, startStore, told } from './startStore.ts';

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
    const rows = store.read({ limit: 100_000 });
    expect(rows).toHaveLength(10_000);
    expect([rows[0]?.metadata['call'], rows.at(-1)?.metadata['call']]).toEqual(['call-15000', 'call-24999']);
  });

  it('[R-10] keeps nothing of retries', async () => {
    const { store } = await startStore({ path: ':memory:' });
    const retried = {
      integration: 'kb',
      call: 'call-1',
      attempt: 1,
      kind: 'timeout',
      message: '',
      delayMs: 1,
    } as const;
    expect(store.record(told({ type: 'call.retried', ...retried }))).toBe(true);
    expect(store.read({ limit: 10 })).toEqual([]);
  });

  it('[O-8] redacts like the file', async () => {
    const { store } = await startStore({ path: ':memory:' });
    store.record(
      told({ type: 'mcp.tool_failed', integration: 'kb', tool: 'ask', input: { password: 'hunter2!' }, error: '' }),
    );
    expect(store.read({ limit: 1 })[0]?.metadata['input']).toEqual({ password: '[redacted]' });
  });

  it('answers the same queries as the file', async () => {
    const { store } = await startStore({ path: ':memory:' });
    recordMany(store, 3);
    store.record(failed(3, { integration: 'other' }));
    const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
    expect(ids(store.read({ limit: 2 }))).toEqual([3, 4]);
    expect(ids(store.read({ limit: 2, after: 1 }))).toEqual([2, 3]);
    expect(ids(store.read({ limit: 9, integration: 'other' }))).toEqual([4]);
    expect(ids(store.read({ limit: 9, since: Date.UTC(2026, 0, 1) + 2 }))).toEqual([3, 4]);
    expect(ids(store.read({ limit: 9, category: 'hook' }))).toEqual([]);
    expect(ids(store.read({ limit: 9, failed: true }))).toHaveLength(4);
  });

  it('refuses what comes after closing', async () => {
    const { store } = await startStore({ path: ':memory:' });
    await store.close();
    expect(store.record(failed(1))).toBe(false);
  });
});
