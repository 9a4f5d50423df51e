import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { diagnose, FileDamagedError } from '../../../src/store/sqlite/trouble.ts';
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

  it('[I-5] [O-2] is told of one that was deleted, as another SQLite library does when it closes the file', async () => {
    const path = join(temporaryDirectory(), 'a.sqlite');
    const connection = await connect(path);
    connection.use((database) => database.exec('CREATE TABLE more (a)'));
    rmSync(`${path}-wal`);
    let thrown: unknown;
    try {
      connection.use(() => undefined);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(FileDamagedError);
    const { reason, fix, busy, refusedRow } = diagnose(thrown, path);
    expect(reason).toBe(
      `${path}: the file or its log was cut, deleted or replaced while it was open; it was set aside as ${path}.damaged-1`,
    );
    expect(fix).toMatch(/^a new file is started; .*another SQLite library in this process/);
    expect({ busy, refusedRow }).toEqual({ busy: false, refusedRow: false });
    expect(connection.use((database) => database.prepare('SELECT 1 AS one').get())).toEqual({ one: 1 });
  });
});
