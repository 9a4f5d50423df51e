import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChildRecord } from '../../../src/policy/records/childRecord.ts';
import { hasSqlite, openDatabase, startStore } from '../startStore.ts';

const child: ChildRecord = {
  pid: 4711,
  start: '99@boot@ns',
  mark: '1.2.x.3',
  command: 'claude',
  startedAt: 1_767_225_600_000.5,
  ownerPid: 4700,
  ownerStart: '88@boot@ns',
};
const stored = { ...child, startedAt: 1_767_225_600_001 };

describe.skipIf(!hasSqlite)('the records of children', () => {
  it('[S-8] are read by the next process', async () => {
    const { store, path } = await startStore();
    store.children.add(child);
    await store.close();
    const next = await startStore({ path });
    expect(await next.store.children.list()).toEqual([stored]);
  });

  it('[S-8] are written with the commit of the turn', async () => {
    const { store, path, clock } = await startStore();
    store.children.add(child);
    await clock.settle();
    expect(openDatabase(path).prepare('SELECT pid FROM unwedge_children').all()).toEqual([{ pid: 4711 }]);
  });

  it('[S-8] lose one that ends before it was written', async () => {
    const { store, path } = await startStore();
    store.children.add(child);
    store.children.remove(child);
    await store.flush();
    expect(openDatabase(path).prepare('SELECT count(*) AS n FROM unwedge_children').get()).toEqual({ n: 0 });
  });

  it('[S-8] [O-2] leave no mark of one that ended before a store that is locked could have it', async () => {
    const { store, path, clock } = await startStore();
    const marks = () => readdirSync(dirname(path)).filter((name) => name.includes('-children-')).length;
    const holder = openDatabase(path);
    holder.exec('BEGIN IMMEDIATE');
    store.children.add(child);
    expect(marks()).toBe(1);
    store.children.remove(child);
    expect(marks()).toBe(0);
    holder.exec('COMMIT');
    await clock.advance(6_000);
    expect(await store.children.list()).toEqual([]);
  });

  it('[S-8] [O-1] are empty in a store that is out of order, and cost nothing', async () => {
    const { store, path } = await startStore();
    await store.close();
    openDatabase(path).exec('PRAGMA user_version = 99');
    const later = await startStore({ path });
    later.store.children.add(child);
    expect(await later.store.children.list()).toEqual([]);
  });
});
