import { describe, expect, it } from 'vitest';
import type { PersistedBreaker } from '../../src/policy/persistedBreaker.ts';
import { hasSqlite, openDatabase, startStore, temporaryDirectory } from './startStore.ts';

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

/** Two processes that share one database, in which `kb` is open at generation 5. */
async function startTwo() {
  const first = await startStore();
  first.store.breakers.save('kb', open);
  await first.store.flush();
  const second = await startStore({ path: first.path });
  return { first: first.store.breakers, second: second.store.breakers, stores: [first.store, second.store] as const };
}

describe.skipIf(!hasSqlite)('kept breakers', () => {
  it('[M-8] are there after the process that saved them', async () => {
    const { store, path } = await startStore();
    store.breakers.save('kb', open);
    await store.close();
    const later = await startStore({ path });
    expect(later.store.breakers.load('kb')).toEqual(open);
    expect(later.store.breakers.loadAll()).toEqual(new Map([['kb', open]]));
  });

  it('[O-9] [O-8] are kept with what opened them, without its secrets', async () => {
    const { store, path } = await startStore();
    const secret = `sk-ant-api03-${'a1B2'.repeat(12)}`;
    const failure = { kind: 'auth', message: `no access with ${secret}`, call: 'kb-1', attempt: 1, at: now } as const;
    store.breakers.save('kb', { ...open, cause: { ...failure, failures: [failure] } });
    await store.close();
    const later = await startStore({ path });
    const { cause } = later.store.breakers.load('kb') ?? {};
    expect(cause).toMatchObject({ kind: 'auth', failures: [{ call: 'kb-1', attempt: 1 }] });
    expect(JSON.stringify(cause)).toContain('no access with');
    expect(JSON.stringify(cause)).not.toContain(secret);
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

  it('are known to the process that saved them before they are committed', async () => {
    const { store } = await startStore();
    store.breakers.save('kb', open);
    store.breakers.save('kb', { ...open, generation: 6 });
    expect(store.breakers.load('kb')?.generation).toBe(6);
    expect(store.breakers.loadAll().get('kb')?.generation).toBe(6);
  });

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

  it('[M-11] are not replaced by an older generation', async () => {
    const { first, second, stores } = await startTwo();
    second.save('kb', { ...open, state: 'closed', generation: 4 });
    await stores[1].flush();
    expect(first.load('kb')).toEqual(open);
    second.save('kb', { ...open, state: 'closed', generation: 5 });
    await stores[1].flush();
    expect(first.load('kb')?.state).toBe('closed');
  });
});

describe.skipIf(!hasSqlite)('failures in a row', () => {
  it('[M-8] are counted by all processes together, from nothing on', async () => {
    const { first, second } = await startTwo();
    expect([first, second, first].map((each) => each.countFailure('new', 0))).toEqual([1, 2, 3]);
    expect(second.load('new')).toMatchObject({ state: 'closed', failures: 3, generation: 0 });
  });

  it('[M-8] [M-11] are not counted for a circuit that has changed since', async () => {
    const { first, second } = await startTwo();
    expect(first.countFailure('kb', 5)).toBe(0);
    second.save('kb', { ...open, state: 'closed', failures: 0, generation: 6 });
    expect(second.countFailure('kb', 6)).toBeUndefined();
    expect(first.countFailure('kb', 5)).toBe(0);
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

  it('[M-11] are kept for the circuit they were counted for', async () => {
    const { first, second, stores } = await startTwo();
    first.saveFailures('new', 0, 3);
    first.saveFailures('kb', 5, 0);
    await stores[0].flush();
    expect(second.load('new')?.failures).toBe(3);
    expect(second.load('kb')).toEqual(open);
  });
});

describe.skipIf(!hasSqlite)('the lease on a probe', () => {
  it('says who holds it', async () => {
    const { first, second } = await startTwo();
    expect(second.probeHolder('kb')).toBeUndefined();
    first.claimProbe('kb', 5, 'one', 35_000, due);
    expect(second.probeHolder('kb')).toBe('one');
  });

  it('[M-8] goes to one of two processes', async () => {
    const { first, second } = await startTwo();
    expect(first.claimProbe('kb', 5, 'one', 35_000, due)).toBe(true);
    expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(false);
  });

  it('[M-3] ends after its time, not before', async () => {
    const { first, second } = await startTwo();
    first.claimProbe('kb', 5, 'one', 35_000, due);
    expect(second.claimProbe('kb', 5, 'two', 35_000, due + 34_999)).toBe(false);
    expect(second.claimProbe('kb', 5, 'two', 35_000, due + 35_000)).toBe(true);
  });

  it('can be taken again by its owner', async () => {
    const { first } = await startTwo();
    first.claimProbe('kb', 5, 'one', 35_000, due);
    expect(first.claimProbe('kb', 5, 'one', 35_000, due + 1)).toBe(true);
  });

  it('is given back by its owner only', async () => {
    const { first, second } = await startTwo();
    first.claimProbe('kb', 5, 'one', 35_000, due);
    second.releaseProbe('kb', 'two');
    expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(false);
    first.releaseProbe('kb', 'one');
    expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(true);
  });

  it('ends when the breaker is saved', async () => {
    const { first, second, stores } = await startTwo();
    first.claimProbe('kb', 5, 'one', 35_000, due);
    first.save('kb', { ...open, generation: 6 });
    await stores[0].flush();
    expect(second.claimProbe('kb', 6, 'two', 35_000, due)).toBe(true);
  });

  it('[M-11] is refused to an older generation while the newer one is to stay open', async () => {
    const { first } = await startTwo();
    expect(first.claimProbe('kb', 4, 'one', 35_000, due - 1)).toBe(false);
    expect(first.claimProbe('kb', 4, 'one', 35_000, due)).toBe(true);
  });

  it('[M-12] is not held for ever by a wall clock that stepped back', async () => {
    const { first, second } = await startTwo();
    const day = 24 * 60 * 60_000;
    first.claimProbe('kb', 5, 'one', 35_000, due + day);
    expect(second.claimProbe('kb', 5, 'two', 35_000, due)).toBe(true);
  });

  it('is free for a breaker that was never saved', async () => {
    const { first } = await startTwo();
    expect(first.claimProbe('other', 1, 'one', 35_000, due)).toBe(true);
  });

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

describe('breakers in memory', () => {
  it('follow the same rules', async () => {
    const { store } = await startStore({ path: ':memory:' });
    store.breakers.save('kb', open);
    store.breakers.save('kb', { ...open, generation: 4 });
    expect(store.breakers.load('kb')).toEqual(open);
    expect(store.breakers.loadAll().size).toBe(1);
    expect(store.breakers.claimProbe('kb', 5, 'one', 35_000, due)).toBe(true);
    expect(store.breakers.countFailure('kb', 5)).toBe(0);
    expect([1, 2].map(() => store.breakers.countFailure('new', 0))).toEqual([1, 2]);
    store.breakers.saveFailures('new', 0, 0);
    expect(store.breakers.load('new')?.failures).toBe(0);
  });
});
