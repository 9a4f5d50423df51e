import { describe, expect, it } from 'vitest';
import type { PersistedBreaker } from '../../../src/policy/records/persistedBreaker.ts';
import { hasSqlite, openDatabase, startStore, temporaryDirectory } from '../startStore.ts';

const now = Date.UTC(2026, 0, 1);
const open: PersistedBreaker = {
  state: 'open',
  openedAt: now,
  openUntil: now + 60_000,
  lastOpenMs: 60_000,
  openings: 1,
  failures: 5,
  generation: 5,
};
const due = now + 60_000;

describe.skipIf(!hasSqlite)('kept breakers', () => {
  it('[M-8] are there after the process that saved them', async () => {
    const { store, path } = await startStore();
    store.breakers.save('kb', open);
    await store.close();
    const later = await startStore({ path });
    expect(later.store.breakers.load('kb')).toEqual(open);
  });

  it('[O-9] are kept with what opened them', async () => {
    const { store, path } = await startStore();
    const failure = { kind: 'auth', message: 'no access', call: 'kb-1', attempt: 1, at: now } as const;
    store.breakers.save('kb', { ...open, cause: { ...failure, failures: [failure] } });
    await store.close();
    const later = await startStore({ path });
    const { cause } = later.store.breakers.load('kb') ?? {};
    expect(cause).toMatchObject({ kind: 'auth', failures: [{ call: 'kb-1', attempt: 1 }] });
    expect(JSON.stringify(cause)).toContain('no access');
  });

  it.each(['not JSON', '[]', '{"kind":"none","message":"x"}', '{"kind":"auth"}'])(
    '[O-9] go without a cause that cannot be read: %s',
    async (text) => {
      const { store, path } = await startStore();
      store.breakers.save('kb', open);
      await store.close();
      openDatabase(path).prepare('UPDATE unwedge_breakers SET cause = ?').run(text);
      expect((await startStore({ path })).store.breakers.load('kb')).toEqual(open);
    },
  );

  it('[O-2] are saved once the store is well again', async () => {
    const path = temporaryDirectory();
    const { store, clock } = await startStore({ path });
    store.breakers.save('kb', open);
    await clock.advance(5_000);
    expect(store.breakers.load('kb')).toEqual(open);
    expect(store.breakers.load('other')).toBeUndefined();
  });

  it('take fractions of a ms', async () => {
    const { store, path } = await startStore();
    store.breakers.save('kb', { ...open, openUntil: now + 0.4 });
    expect(await store.flush()).toBe(true);
    expect(openDatabase(path).prepare('SELECT open_until FROM unwedge_breakers').get()?.['open_until']).toBe(now);
  });
});

describe.skipIf(!hasSqlite)('failures in a row', () => {
  it('[M-8] are counted later while the state they are counted for waits for its commit', async () => {
    const { store } = await startStore();
    store.breakers.save('kb', { ...open, state: 'closed', failures: 0, generation: 6 });
    expect(store.breakers.countFailure('kb', 6)).toBeUndefined();
    await store.flush();
    expect(store.breakers.load('kb')?.failures).toBe(1);
  });

  it('[M-8] are counted later when the database is locked', async () => {
    const { store, path, clock } = await startStore();
    const other = openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    expect(store.breakers.countFailure('kb', 0)).toBeUndefined();
    other.exec('COMMIT');
    await clock.advance(1_000);
    expect(store.breakers.load('kb')?.failures).toBe(1);
  });
});

describe.skipIf(!hasSqlite)('the lease on a probe', () => {
  it('[O-2] is free while the store is degraded', async () => {
    const { store } = await startStore({ path: temporaryDirectory() });
    expect(store.breakers.claimProbe('kb', 5, 'one', 35_000, due)).toBe(true);
    expect(() => store.breakers.releaseProbe('kb', 'one')).not.toThrow();
  });

  it('[O-1] is free while another process holds the lock, after a short wait', async () => {
    const { store, path, facts } = await startStore();
    store.breakers.save('kb', open);
    await store.flush();
    openDatabase(path).exec('BEGIN IMMEDIATE');
    expect(store.breakers.claimProbe('kb', 5, 'one', 35_000, due)).toBe(true);
    expect(facts.all).toEqual([]);
  });
});
