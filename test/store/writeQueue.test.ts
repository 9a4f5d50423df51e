import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Timer, TimerOptions } from '../../src/policy/clock.ts';
import type { Database, Driver, DriverLoader } from '../../src/store/sqlite/database.ts';
import { findDriver } from '../../src/store/sqlite/driver.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import {
  failed,
  hasSqlite,
  openDatabase,
  openingStore,
  recordMany,
  startStore,
  storedCalls,
  temporaryDirectory,
} from './startStore.ts';

/** Holds the write lock of a database as another process would. */
function lock(path: string, how: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE'): Database {
  const holder = openDatabase(path);
  holder.exec(`BEGIN ${how}`);
  return holder;
}

/** Drivers whose commits fail with `error` while it is set. */
function failingDrivers(fault: {
  error?: Error | undefined;
  opened?: number;
  busyTimeoutMs?: number;
}): readonly DriverLoader[] {
  const load = async (): Promise<Driver> => {
    const found = await findDriver();
    if (!found.ok) throw new Error(found.reason);
    const { driver } = found;
    const wrap = (database: Database): Database => ({
      ...database,
      immediate(work) {
        if (fault.error !== undefined) throw fault.error;
        return database.immediate(work);
      },
    });
    return {
      kind: driver.kind,
      open(path, options) {
        fault.opened = (fault.opened ?? 0) + 1;
        fault.busyTimeoutMs = options.busyTimeoutMs;
        return wrap(driver.open(path, options));
      },
    };
  };
  return [load];
}

/** Notes which timers keep the process alive. */
class ReferencedClock extends SimulatedClock {
  readonly referenced: boolean[] = [];

  override setTimeout(callback: () => void, delayMs: number, options?: TimerOptions): Timer {
    this.referenced.push(options?.ref === true);
    return super.setTimeout(callback, delayMs);
  }
}

const sqliteError = (code: string, message: string) => Object.assign(new Error(message), { code });

describe.skipIf(!hasSqlite)('a locked store', () => {
  it('[O-1] blocks the event loop for 5 ms at a time, not for the default of 5 s', async () => {
    const { store, path, clock } = await startStore();
    lock(path);
    store.record(failed(1));
    const before = performance.now();
    await clock.settle();
    // Far above 5 ms and below 5 s: holds on a slow machine too.
    expect(performance.now() - before).toBeLessThan(4_500);
  });

  it('[O-1] blocks for at most 10 ms even where a transaction waits twice', async () => {
    const fault = { busyTimeoutMs: 0 };
    await startStore({ drivers: failingDrivers(fault) });
    expect(2 * fault.busyTimeoutMs).toBeLessThanOrEqual(10);
  });

  it.each(['IMMEDIATE', 'EXCLUSIVE'] as const)(
    '[O-1] stores the rows once the %s lock of another is gone',
    async (how) => {
      const { store, path, clock, facts } = await startStore();
      const holder = lock(path, how);
      recordMany(store, 3);
      await clock.advance(4_000);
      expect(storedCalls(path)).toEqual([]);
      holder.exec('COMMIT');
      await clock.advance(500);
      expect(storedCalls(path)).toEqual(['call-0', 'call-1', 'call-2']);
      expect(facts.of('store.degraded')).toEqual([]);
    },
  );

  it.each([20, 90, 400])(
    '[O-1] waits for a lock of %i ms at most half as long again as that lasts',
    async (lastsMs) => {
      const { store, path, clock } = await startStore();
      const holder = lock(path);
      recordMany(store, 1);
      await clock.advance(lastsMs);
      holder.exec('COMMIT');
      await clock.advance(lastsMs / 2 + 10);
      expect(storedCalls(path)).toEqual(['call-0']);
    },
  );

  it('[O-1] is degraded when the lock lasts 5 s, not before', async () => {
    const { store, path, clock } = await startStore();
    lock(path);
    store.record(failed(1));
    await clock.advance(4_900);
    expect(store.degraded).toBe(false);
    await clock.advance(600);
    expect(store.degraded).toBe(true);
  });

  it('[I-5] answers a flush with true once the lock is gone', async () => {
    const { store, path, clock } = await startStore();
    const holder = lock(path);
    store.record(failed(1));
    const flushed = store.flush();
    await clock.advance(1_000);
    holder.exec('COMMIT');
    await clock.advance(500);
    expect(await flushed).toBe(true);
    expect(storedCalls(path)).toEqual(['call-1']);
  });

  it('[I-5] answers a flush with false when the lock outlasts 5 s', async () => {
    const { store, path, clock } = await startStore();
    lock(path);
    store.record(failed(1));
    const flushed = store.flush();
    await clock.advance(5_500);
    expect(await flushed).toBe(false);
  });

  it('[I-3] keeps the process alive for a flush that waits, and for nothing else', async () => {
    const clock = new ReferencedClock();
    const { store, path } = await startStore({ clock });
    const holder = lock(path);
    store.record(failed(1));
    await clock.settle();
    expect(clock.referenced).toEqual([false]);
    const flushed = store.flush();
    expect(clock.referenced).toEqual([false, true]);
    holder.exec('COMMIT');
    await clock.advance(500);
    expect(await flushed).toBe(true);
  });

  it('opens without waiting while another process writes', async () => {
    const { path } = await startStore();
    lock(path);
    const { started, opening } = openingStore({ path });
    expect((await opening).degraded).toBe(false);
    expect(started.clock.pending).toBe(0);
  });

  it('waits for the lock when it has to migrate', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    const holder = lock(path, 'EXCLUSIVE');
    const { started, opening } = openingStore({ path });
    await started.clock.advance(1_000);
    holder.exec('COMMIT');
    await started.clock.advance(500);
    expect((await opening).degraded).toBe(false);
  });

  it('gives up the waiting for a lock at opening after 5 s', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    lock(path, 'EXCLUSIVE');
    const { started, opening } = openingStore({ path });
    await started.clock.advance(5_500);
    expect((await opening).degraded).toBe(true);
  });
});

describe.skipIf(!hasSqlite)('a broken store', () => {
  it.each([
    ['a directory at the path', (path: string) => mkdirSync(path)],
    [
      'a file that is no database',
      (path: string) => writeFileSync(path, 'not a database, but long enough to be read as one'.repeat(40)),
    ],
  ])('[O-2] opens degraded with %s, and recovers when it is gone', async (_, spoil) => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    spoil(path);
    const { store, clock } = await startStore({ path });
    expect(store.degraded).toBe(true);
    store.record(failed(1));
    rmSync(path, { recursive: true });
    await clock.advance(1_000);
    expect(store.degraded).toBe(false);
    expect(storedCalls(path)).toEqual(['call-1']);
  });

  it('[O-2] opens degraded with a file where a directory should be', async () => {
    const parent = join(temporaryDirectory(), 'file');
    writeFileSync(parent, '');
    const { store, facts } = await startStore({ path: join(parent, 'events.sqlite') });
    expect(store.record(failed(1))).toBe(true);
    expect(await store.flush()).toBe(false);
    expect(facts.of('store.degraded')).toHaveLength(1);
  });

  it.each([
    ['SQLITE_FULL', 'free space on its disk'],
    ['SQLITE_READONLY', 'writable'],
    ['SQLITE_CORRUPT', 'move the file away'],
    ['SQLITE_IOERR_WRITE', 'choose another file'],
  ])('[O-2] says once what is wrong and the fix, however long it lasts: %s', async (code, fix) => {
    const fault = { error: undefined as Error | undefined };
    const { store, clock, facts, lines } = await startStore({ drivers: failingDrivers(fault) });
    fault.error = sqliteError(code, 'as SQLite says it');
    recordMany(store, 2);
    await clock.advance(60_000);
    expect(facts.of('store.degraded')).toHaveLength(1);
    expect(facts.of('store.degraded')[0]?.fix).toContain(fix);
    expect(lines.filter((line) => line.includes('as SQLite says it'))).toHaveLength(1);
  });

  it('[O-2] counts a new episode after a recovery', async () => {
    const fault = { error: undefined as Error | undefined };
    const { store, clock, facts } = await startStore({ drivers: failingDrivers(fault) });
    for (let episode = 0; episode < 2; episode++) {
      fault.error = sqliteError('SQLITE_FULL', 'full');
      store.record(failed(episode));
      await clock.advance(2_500);
      fault.error = undefined;
      await clock.advance(1_000);
    }
    expect(facts.all.map(({ type }) => type)).toEqual([
      'store.degraded',
      'store.recovered',
      'store.degraded',
      'store.recovered',
    ]);
  });

  it('[O-2] keeps 10,000 rows and refuses the next, counted', async () => {
    const fault = { error: undefined as Error | undefined };
    const { store, clock, facts, path } = await startStore({ drivers: failingDrivers(fault) });
    fault.error = sqliteError('SQLITE_FULL', 'full');
    store.record(failed(0));
    await clock.settle();
    const accepted = recordMany(store, 10_001);
    expect(accepted.indexOf(false)).toBe(9_999);
    fault.error = undefined;
    await clock.advance(1_000);
    expect(facts.of('store.recovered')).toEqual([
      { type: 'store.recovered', queued: 10_000, dropped: 2, downMs: 1_000 },
    ]);
    expect(storedCalls(path)).toHaveLength(10_000);
  });

  it('[O-2] tries again every second', async () => {
    const fault = { error: undefined as Error | undefined };
    const { store, clock } = await startStore({ drivers: failingDrivers(fault) });
    fault.error = sqliteError('SQLITE_FULL', 'full');
    store.record(failed(1));
    await clock.settle();
    fault.error = undefined;
    await clock.advance(999);
    expect(store.degraded).toBe(true);
    await clock.advance(1);
    expect(store.degraded).toBe(false);
  });

  it.each([
    ['SQLITE_CORRUPT', 2],
    ['SQLITE_BUSY', 1],
  ])('[O-2] opens the file anew after %s only where that can help', async (code, opened) => {
    const fault = { error: undefined as Error | undefined, opened: 0 };
    const { store, clock } = await startStore({ drivers: failingDrivers(fault) });
    fault.error = sqliteError(code, 'no');
    store.record(failed(1));
    await clock.settle();
    fault.error = undefined;
    await clock.advance(1_000);
    expect([store.degraded, fault.opened]).toEqual([false, opened]);
  });

  it('[O-1] is asked nothing while it is degraded, since every question could block', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    writeFileSync(path, 'words '.repeat(1_000));
    const fault = { opened: 0 };
    const { store } = await startStore({ path, drivers: failingDrivers(fault) });
    expect(store.breakers.load('kb')).toBeUndefined();
    expect(store.breakers.claimProbe('kb', 1, 'one', 1_000, 0)).toBe(true);
    expect(await store.read({ limit: 1 })).toEqual([]);
    expect(fault.opened).toBe(1);
  });

  it('[I-5] answers a flush of an accepted row with false while degraded', async () => {
    const fault = { error: sqliteError('SQLITE_FULL', 'full') };
    const { store, clock } = await startStore({ drivers: failingDrivers(fault) });
    expect(store.record(failed(1))).toBe(true);
    await clock.settle();
    expect([store.degraded, await store.flush()]).toEqual([true, false]);
  });

  it('[O-2] writes what waits at closing, if it can be written by then', async () => {
    const fault = { error: undefined as Error | undefined };
    const { store, clock, path } = await startStore({ drivers: failingDrivers(fault) });
    fault.error = sqliteError('SQLITE_FULL', 'full');
    recordMany(store, 1_200);
    await clock.settle();
    fault.error = undefined;
    await store.close();
    expect(storedCalls(path)).toHaveLength(1_200);
  });

  it('[I-4] says how many rows are lost at closing', async () => {
    const { store, lines } = await startStore({ path: join(temporaryDirectory(), 'file\0name', 'x') });
    recordMany(store, 3);
    await store.close();
    expect(lines.at(-1)).toBe('error: The store closed with 3 events unwritten.');
  });

  it('[I-4] survives a logger that throws', async () => {
    const say = () => {
      throw new Error('disk full');
    };
    const path = temporaryDirectory();
    const { store } = await startStore({ path, logger: { debug: say, info: say, warn: say, error: say } });
    expect(store.degraded).toBe(true);
  });
});

describe.skipIf(!hasSqlite)('a file deleted while it is open', () => {
  function remove(directory: string): void {
    for (const name of readdirSync(directory)) rmSync(join(directory, name));
  }

  it('[O-2] is started anew within 5 s, and no later row is lost', async () => {
    const directory = temporaryDirectory();
    const { store, path, clock, facts } = await startStore({ path: join(directory, 'events.sqlite') });
    store.record(failed(1));
    await clock.settle();
    remove(directory);
    store.record(failed(2));
    await clock.advance(1_000);
    expect(existsSync(path)).toBe(true);
    expect(storedCalls(path)).toEqual(['call-2']);
    expect(facts.all.map(({ type }) => type)).toEqual(['store.degraded', 'store.recovered']);
  });

  it('[O-2] is noticed when another file took its place', async () => {
    const directory = temporaryDirectory();
    const { store, path, clock } = await startStore({ path: join(directory, 'events.sqlite') });
    await clock.settle();
    const { path: other } = await startStore();
    remove(directory);
    copyFileSync(other, path);
    store.record(failed(1));
    await clock.advance(1_000);
    expect(storedCalls(path)).toEqual(['call-1']);
  });
});

describe.skipIf(!hasSqlite)('a process that ends', () => {
  it('[I-3] has no timer pending after closing', async () => {
    const fault = { error: sqliteError('SQLITE_FULL', 'full') };
    const { store, clock } = await startStore({ drivers: failingDrivers(fault) });
    store.record(failed(1));
    await clock.settle();
    expect(clock.pending).toBe(1);
    await store.close();
    expect(clock.pending).toBe(0);
  });
});
