import Database from 'better-sqlite3';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { canAbort, loadBetterSqlite3 } from '../../../src/store/sqlite/betterSqlite3.ts';
import type { Driver, SqlValue } from '../../../src/store/sqlite/database.ts';
import { driverLoaders, findDriver } from '../../../src/store/sqlite/driver.ts';
import { loadNodeSqlite } from '../../../src/store/sqlite/nodeSqlite.ts';
import type { RawDatabase, RawStatement } from '../../../src/store/sqlite/sqlConnection.ts';
import { failed, hasSqlite, startStore, temporaryDirectory } from '../startStore.ts';

const broken = async (): Promise<Driver> => {
  throw new Error('better-sqlite3: Could not locate the bindings file. Tried:\n → /a\n → /b');
};
/** As npm leaves it where the optional package could not be built. */
const dropped = async (): Promise<Driver> => {
  throw new Error("better-sqlite3: Cannot find module 'better-sqlite3/package.json'\nRequire stack:\n- /a.js");
};
const absent = () => loadNodeSqlite(() => undefined);

/** The shape of `node:sqlite`, over better-sqlite3, for a Node without it. */
class DatabaseSync implements RawDatabase {
  readonly #database: Database.Database;

  constructor(path: string, options: { readOnly: boolean }) {
    this.#database = new Database(path, { readonly: options.readOnly });
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): RawStatement {
    const statement = this.#database.prepare<SqlValue[]>(sql);
    return {
      run: (...values) => statement.run(...values),
      all: (...values) => statement.all(...values),
      get: (...values) => statement.get(...values),
    };
  }

  close(): void {
    this.#database.close();
  }
}
const { version } = createRequire(import.meta.url)('better-sqlite3/package.json') as { version: string };
const hasBinary = !canAbort(version, process.versions.node) && binaryWorks();
const hasNodeSqlite = isBuiltin('node:sqlite');
const nodeSqlite = () => (hasNodeSqlite ? loadNodeSqlite() : loadNodeSqlite(() => ({ DatabaseSync })));

function binaryWorks(): boolean {
  try {
    new Database(':memory:').close();
    return true;
  } catch {
    return false;
  }
}

describe('the search for a driver', () => {
  it('prefers better-sqlite3', () => {
    expect(driverLoaders).toEqual([loadBetterSqlite3, loadNodeSqlite]);
  });

  it('finds one wherever there is one', () => {
    expect(hasSqlite).toBe(hasBinary || hasNodeSqlite);
  });

  it.skipIf(!hasSqlite)('takes node:sqlite when better-sqlite3 does not work', async () => {
    expect(await findDriver([broken, nodeSqlite])).toMatchObject({ ok: true, driver: { kind: 'node:sqlite' } });
  });

  it.each([
    ['12.11.1', '22.23.3', false],
    ['12.11.1', '24.0.0', true],
    ['13.0.0', '24.21.0', false],
  ])('knows that better-sqlite3 %s can abort Node %s: %s', (better, node, expected) => {
    expect(canAbort(better, node)).toBe(expected);
  });

  it('does not load a better-sqlite3 that can abort this Node', async () => {
    await expect(loadBetterSqlite3('24.21.0')).rejects.toThrow(`better-sqlite3: ${version} can abort Node 24.21.0`);
  });

  it('says in one line each what is missing and the fix', async () => {
    const found = await findDriver([broken, absent]);
    expect(found).toEqual({
      ok: false,
      reason: `no SQLite driver works (better-sqlite3: Could not locate the bindings file; node:sqlite: not in Node ${process.versions.node})`,
      fix: 'run `npm rebuild better-sqlite3` (with pnpm `pnpm approve-builds`), or use Node 22.13 or newer',
      command: 'npm rebuild better-sqlite3',
    });
  });

  it('[E-2] [L-6] has a package installed that is not there, which cannot be rebuilt', async () => {
    expect(await findDriver([dropped, absent])).toMatchObject({
      fix: 'run `npm install better-sqlite3` (it needs a prebuilt binary or a compiler), or use Node 22.13 or newer',
      command: 'npm install better-sqlite3',
    });
  });

  it.each([
    [
      'the binary of another Node',
      'The module\nwas compiled for\nVERSION 115. This Node has\nVERSION 137.',
      'The module was compiled for VERSION 115',
    ],
    [
      'a package that is not whole',
      "Cannot find module 'bindings'\nRequire stack:\n- /a.js",
      "Cannot find module 'bindings'",
    ],
  ])('says in one line that it found %s', async (_, message, reason) => {
    const found = await findDriver([() => Promise.reject(new Error(message))]);
    expect(found).toMatchObject({ ok: false, reason: `no SQLite driver works (${reason})` });
  });

  it('does not touch warnings of others', async () => {
    const { emitWarning } = process;
    await findDriver([() => loadNodeSqlite()]);
    expect(process.emitWarning).toBe(emitWarning);
  });
});

describe.each([
  ['better-sqlite3', loadBetterSqlite3, hasBinary],
  ['node:sqlite', nodeSqlite, hasSqlite],
])('the driver %s', (_, load, here) => {
  beforeEach(({ skip }) => skip(!here, 'not on this machine'));

  const start = async () => {
    const driver = await load();
    const path = join(temporaryDirectory(), 'a.sqlite');
    const database = driver.open(path, { busyTimeoutMs: 10 });
    database.exec('CREATE TABLE t (a)');
    return { driver, path, database };
  };

  it('[O-1] blocks on a lock no longer than it is told', async () => {
    const { database } = await start();
    expect(Object.values(database.prepare('PRAGMA busy_timeout').get() ?? {})).toEqual([10]);
  });

  it('runs, gets and lists', async () => {
    const { database } = await start();
    expect(database.prepare('INSERT INTO t VALUES (?), (?)').run(1, 'two')).toBe(2);
    expect(database.prepare('SELECT a FROM t').all()).toEqual([{ a: 1 }, { a: 'two' }]);
    expect(database.prepare('SELECT a FROM t WHERE a = ?').get('two')).toEqual({ a: 'two' });
    expect(database.prepare('SELECT a FROM t WHERE a = ?').get('three')).toBeUndefined();
  });

  it('rolls back what throws, and can go on', async () => {
    const { database } = await start();
    const work = () => {
      database.prepare('INSERT INTO t VALUES (1)').run();
      throw new Error('no');
    };
    expect(() => database.immediate(work)).toThrow('no');
    expect(database.immediate(() => database.prepare('SELECT count(*) AS rows FROM t').get())).toEqual({ rows: 0 });
  });

  it('writes nothing when read only', async () => {
    const { driver, path } = await start();
    const reader = driver.open(path, { busyTimeoutMs: 10, readOnly: true });
    expect(() => reader.exec('INSERT INTO t VALUES (1)')).toThrow('readonly');
  });
});

describe('a store without a driver', () => {
  const drivers = [broken, absent];

  it('keeps the last rows in memory and says so once, with the fix', async () => {
    const { store, facts, lines } = await startStore({ drivers });
    store.record(failed(1));
    expect(store).toMatchObject({ kind: 'memory', degraded: true });
    expect(await store.read({ limit: 10 })).toHaveLength(1);
    expect(facts.of('store.degraded')).toHaveLength(1);
    expect(lines).toEqual([
      expect.stringMatching(/^warn: Nothing is stored: .*\. Fix: run `npm rebuild better-sqlite3`.*\.$/),
    ]);
  });

  it('[I-5] promises nothing', async () => {
    const { store } = await startStore({ drivers });
    store.record(failed(1));
    expect(await store.flush()).toBe(false);
  });
});
