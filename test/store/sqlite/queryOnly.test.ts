import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findDriver } from '../../../src/store/sqlite/driver.ts';
import { openQueryOnly } from '../../../src/store/sqlite/queryOnly.ts';
import { failed, hasSqlite, startStore, temporaryDirectory } from '../startStore.ts';

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
