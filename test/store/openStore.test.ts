import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/openStore.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { RecordedFacts } from '../support/facts.ts';
import { failed, hasSqlite, startStore, temporaryDirectory } from './startStore.ts';

describe('opening a store', () => {
  const parts = { clock: new SimulatedClock(), facts: new RecordedFacts(), env: {} };

  it('names an option of the wrong type', async () => {
    // @ts-expect-error a path is text
    await expect(openStore({ ...parts, path: 5 })).rejects.toThrow(TypeError);
    // @ts-expect-error a word it does not know
    await expect(openStore({ ...parts, synchronous: 'OFF' })).rejects.toThrow(
      'Expected `options.synchronous` to be one of NORMAL, FULL, got "OFF"',
    );
    const unknown = { ...parts, pth: 'a' };
    await expect(openStore(unknown)).rejects.toThrow('Unknown option `options.pth`');
  });

  it.skipIf(!hasSqlite)('[O-1] takes the path from the environment it is given', async () => {
    const path = join(temporaryDirectory(), 'env.sqlite');
    const { store } = await startStore({ path: undefined, env: { UNWEDGE_DB: path } });
    expect(store).toMatchObject({ path, degraded: false });
    expect(store.kind).not.toBe('memory');
  });
});

describe.skipIf(!hasSqlite)('a store that is closed', () => {
  it('can be closed twice', async () => {
    const { store } = await startStore();
    await Promise.all([store.close(), store.close()]);
    expect(await store.flush()).toBe(true);
  });

  it('[I-3] answers as one that cannot be read, and opens nothing again', async () => {
    const directory = temporaryDirectory();
    const { store } = await startStore({ path: join(directory, 'events.sqlite') });
    store.record(failed(1));
    await store.close();
    expect(await store.read({ limit: 1 })).toEqual([]);
    expect([await store.alerts.open(), await store.children.list(), await store.runtimes.pids()]).toEqual([[], [], []]);
    expect(store.breakers.load('kb')).toBeUndefined();
    expect(readdirSync(directory)).toEqual(['events.sqlite']);
  });

  it('[I-3] leaves one file behind, without journals', async () => {
    const directory = temporaryDirectory();
    const { store } = await startStore({ path: join(directory, 'events.sqlite') });
    store.record(failed(1));
    await store.close();
    expect(readdirSync(directory)).toEqual(['events.sqlite']);
  });
});
