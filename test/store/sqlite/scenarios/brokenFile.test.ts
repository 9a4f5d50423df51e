import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Database, DriverLoader } from '../../../../src/store/sqlite/database.ts';
import { findDriver } from '../../../../src/store/sqlite/driver.ts';
import { failed, hasSqlite, openDatabase, recordMany, startStore, storedCalls } from '../../startStore.ts';

/** A driver whose connections a test can have SQLite limit, as a full or read-only disk would. */
function limitedDriver() {
  const opened: Database[] = [];
  const load: DriverLoader = async () => {
    const found = await findDriver();
    if (!found.ok) throw new Error(found.reason);
    return {
      kind: found.driver.kind,
      open(path, options) {
        const database = found.driver.open(path, options);
        for (const pragma of pragmas) database.exec(pragma);
        opened.push(database);
        return database;
      },
    };
  };
  let pragmas: readonly string[] = [];
  return {
    drivers: [load],
    /** Holds for the open connection and those to come. */
    limit(pragma: string) {
      pragmas = [pragma];
      opened.at(-1)?.exec(pragma);
    },
    /** The next connection has no limit. */
    free() {
      pragmas = [];
    },
  };
}

const seconds = 1_000;

describe.skipIf(!hasSqlite)('a database that SQLite itself says is', () => {
  it.each([
    ['full', 'PRAGMA max_page_count = 1', 'free space on its disk'],
    ['read-only', 'PRAGMA query_only = ON', 'make the file and its directory writable'],
  ])('[O-2] %s costs no call, is said once, and is caught up with within 5 s', async (_, limit, fix) => {
    const disk = limitedDriver();
    const { store, clock, path, facts } = await startStore({ drivers: disk.drivers });
    recordMany(store, 1);
    await store.flush();
    disk.limit(limit);
    const big = 'x'.repeat(2_000);
    for (let call = 1; call <= 200; call++) {
      const { failure } = failed(call);
      expect(store.record(failed(call, { failure: { ...failure, message: big } }))).toBe(true);
    }
    await clock.advance(60 * seconds);
    expect([store.degraded, facts.of('store.degraded').length]).toEqual([true, 1]);
    expect(facts.of('store.degraded')[0]?.fix).toContain(fix);
    disk.free();
    await clock.advance(5 * seconds);
    expect(storedCalls(path)).toEqual(Array.from({ length: 201 }, (_each, call) => `call-${call}`));
    expect(facts.of('store.recovered')).toMatchObject([{ queued: 200, dropped: 0 }]);
  });

  it('[O-2] corrupt costs no call, is said once, and a new file is caught up with within 5 s', async () => {
    const { store, path } = await startStore();
    recordMany(store, 50);
    await store.close();
    // All but the first page, which says what the file is.
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(statSync(path).size - 4096, 0x5a), 0, undefined, 4096);
    closeSync(file);
    expect(() => openDatabase(path).prepare('SELECT count(*) FROM events').get()).toThrow(/malformed/);

    const later = await startStore({ path });
    expect(later.store.record(failed(7))).toBe(true);
    await later.clock.advance(60 * seconds);
    expect([later.store.degraded, later.facts.of('store.degraded').length]).toEqual([true, 1]);
    expect(later.facts.of('store.degraded')[0]?.fix).toContain('move the file away');
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    await later.clock.advance(5 * seconds);
    expect(storedCalls(path)).toEqual(['call-7']);
  });
});
