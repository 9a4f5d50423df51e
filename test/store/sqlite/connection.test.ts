import { existsSync, readdirSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createConnection } from '../../../src/store/sqlite/connection.ts';
import { findDriver } from '../../../src/store/sqlite/driver.ts';
import { hasSqlite, openDatabase, temporaryDirectory } from '../startStore.ts';

async function connect(path: string) {
  const found = await findDriver();
  if (!found.ok) throw new Error(found.reason);
  const connection = createConnection(found.driver, path, 'NORMAL');
  onTestFinished(() => connection.close());
  return connection;
}

describe.skipIf(!hasSqlite)('a database whose log is cut while it is open', () => {
  it.each([
    ['is moved away when it is of unwedge alone', false, ['a.sqlite.damaged-1'], 'set aside as'],
    ['stays where it is when it is of somebody else', true, ['a.sqlite'], 'left where it is'],
  ])('[I-5] %s', async (_, isForeign, files, said) => {
    const path = join(temporaryDirectory(), 'a.sqlite');
    const host = openDatabase(path);
    if (isForeign) host.exec('PRAGMA journal_mode = WAL; CREATE TABLE users (name TEXT)');
    const connection = await connect(path);
    connection.use((database) => database.exec('CREATE TABLE more (a)'));
    truncateSync(`${path}-wal`, 0);
    expect(() => connection.use(() => undefined)).toThrow(said);
    const found = readdirSync(dirname(path)).filter((name) => !/-(?:wal|shm)$/.test(name));
    expect(found).toEqual(files);
    expect(existsSync(path)).toBe(isForeign);
  });
});
