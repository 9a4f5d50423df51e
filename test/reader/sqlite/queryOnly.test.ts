import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Driver } from '../../../src/store/sqlite/database.ts';
import { findDriver } from '../../../src/store/sqlite/driver.ts';
import { openQueryOnly } from '../../../reader/sqlite/queryOnly.ts';
import { failed, hasSqlite, startStore, temporaryDirectory } from '../../store/startStore.ts';

it.skipIf(!hasSqlite)('a database that is read cannot be changed, and nothing is left behind', async () => {
  const directory = temporaryDirectory();
  const { store, path } = await startStore({ path: join(directory, 'a.sqlite') });
  store.record(failed(1));
  await store.close();
  const found = await findDriver();
  if (!found.ok) throw new Error(found.reason);
  const database = openQueryOnly(found.driver, path);
  expect(() => database.exec('DELETE FROM events')).toThrow('readonly');
  database.close();
  expect(readdirSync(directory)).toEqual(['a.sqlite']);
});

it.skipIf(!hasSqlite)(
  '[I-6] [L-2] a database beside which nothing can be written is read from a copy, which is gone afterwards',
  async () => {
    const { store, path } = await startStore();
    store.record(failed(1));
    await store.flush();
    const found = await findDriver();
    if (!found.ok) throw new Error(found.reason);
    const { driver } = found;
    const opened: string[] = [];
    const refusing = (code: string): Driver => ({
      ...driver,
      open(file, options) {
        if (file === path) throw Object.assign(new Error('attempt to write a readonly database'), { code });
        opened.push(file);
        return driver.open(file, options);
      },
    });
    const database = openQueryOnly(refusing('SQLITE_READONLY'), path);
    expect(database.prepare('SELECT count(*) AS count FROM events').get()).toEqual({ count: 1 });
    expect(() => database.exec('DELETE FROM events')).toThrow('readonly');
    const [copy = ''] = opened;
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    database.close();
    expect(existsSync(dirname(copy))).toBe(false);
    expect(() => openQueryOnly(refusing('SQLITE_NOTADB'), path)).toThrow('readonly database');
    await store.close();
  },
);
