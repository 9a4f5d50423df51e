import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Claim, RecoveryLimits, SessionLedger } from '../../../../src/sessions/sessionStore.ts';
import type { Driver, DriverLoader } from '../../../../src/store/sqlite/database.ts';
import { findDriver } from '../../../../src/store/sqlite/driver.ts';
import {
  hasSqlite,
  openDatabase,
  recordMany,
  type StartedStore,
  startStore,
  temporaryDirectory,
} from '../../startStore.ts';

const limits = (started: StartedStore): RecoveryLimits => ({
  maxDeliveries: 3,
  maxAgeMs: 86_400_000,
  wallNow: started.clock.wallNow(),
  facts: () => [],
  answer: () => ({ status: 'error', error: 'lost', retries: 0, recoverable: false }),
  keeps: ({ rule }) => rule === 'ask',
});

/** A runtime on a store; others that are entered are alive unless they are named `dead`. */
function claim(started: StartedStore, id = 'a'): Promise<Claim | undefined> {
  const { store, clock } = started;
  const now = clock.wallNow();
  const row = { id, pid: 1, processStart: '', startedAt: now, renewedAt: now, name: id, socket: undefined };
  if (!store.degraded) store.runtimes.enter(row);
  const claimed = store.sessions?.({ id, isAlive: (run) => run.id !== 'dead' }).claim('s', limits(started));
  if (claimed === undefined) throw new Error('a file keeps sessions');
  return after(started, claimed);
}

async function own(started: StartedStore, id = 'a'): Promise<Extract<Claim, { held: false }>> {
  const claimed = await claim(started, id);
  if (claimed === undefined || claimed.held) throw new Error('not claimed');
  return claimed;
}

async function after<T>({ clock }: StartedStore, promise: Promise<T>): Promise<T> {
  await clock.settle();
  return promise;
}

const post = (started: StartedStore, ledger: SessionLedger, number: number) =>
  after(started, ledger.post({ number, message: { kind: 'user' }, key: undefined, at: started.clock.wallNow() }));

/** Driver whose commits fail with `fault.error` while it is set. */
function failing(fault: { error?: Error | undefined }): readonly DriverLoader[] {
  return [
    async (): Promise<Driver> => {
      const found = await findDriver();
      if (!found.ok) throw new Error(found.reason);
      const { kind, open } = found.driver;
      return {
        kind,
        open(path, options) {
          const database = open(path, options);
          return {
            ...database,
            immediate(work) {
              if (fault.error !== undefined) throw fault.error;
              return database.immediate(work);
            },
          };
        },
      };
    },
  ];
}

const sqliteError = (code: string) => Object.assign(new Error(code), { code });

/** The next runtime of the same file, after the last one was killed. */
async function restart(started: StartedStore): Promise<StartedStore> {
  openDatabase(started.path).exec(`UPDATE unwedge_sessions SET owner = 'dead'`);
  return startStore({ path: started.path });
}

describe.skipIf(!hasSqlite)('sessions in a store that gets out of order', () => {
  it.each(['SQLITE_FULL', 'SQLITE_READONLY', 'SQLITE_IOERR', 'SQLITE_CORRUPT'])(
    '[I-5] says that nothing is durable: %s',
    async (code) => {
      const fault: { error?: Error | undefined } = {};
      const started = await startStore({ drivers: failing(fault) });
      const { ledger } = await own(started);
      fault.error = sqliteError(code);
      expect(await post(started, ledger, 1)).toBe('volatile');
      expect(started.store.degraded).toBe(true);
      expect(await claim(started, 'b')).toBeUndefined();
    },
  );

  it('[I-5] does not bring a message back that was processed meanwhile', async () => {
    const fault: { error?: Error | undefined } = {};
    const started = await startStore({ drivers: failing(fault) });
    const { ledger } = await own(started);
    expect(await post(started, ledger, 1)).toBe('durable');
    fault.error = sqliteError('SQLITE_FULL');
    expect(await post(started, ledger, 2)).toBe('volatile');
    for (const number of [1, 2]) {
      await after(started, ledger.take(number, number, number, 0));
      expect(await after(started, ledger.finish(number, 'done', 0))).toBe('volatile');
    }
    fault.error = undefined;
    await started.clock.advance(1000);
    expect(started.store.degraded).toBe(false);
    const { recovered, past } = await own(await restart(started));
    expect(recovered).toMatchObject({ waiting: [] });
    expect(past(100)).toMatchObject({ lastMessage: 2 });
  });

  it('[I-5] does not bring one back either when it was out of order so long that it refuses rows', async () => {
    const fault: { error?: Error | undefined } = {};
    const started = await startStore({ drivers: failing(fault) });
    const { ledger } = await own(started);
    expect(await post(started, ledger, 1)).toBe('durable');
    fault.error = sqliteError('SQLITE_FULL');
    recordMany(started.store, 10_001);
    await started.clock.settle();
    expect(await post(started, ledger, 2)).toBe('volatile');
    for (const number of [1, 2]) {
      await after(started, ledger.take(number, number, number, 0));
      await after(started, ledger.finish(number, 'done', 0));
    }
    fault.error = undefined;
    await started.clock.advance(1000);
    expect(await post(started, ledger, 3)).toBe('durable');
    const { recovered } = await own(await restart(started));
    expect(recovered.waiting).toMatchObject([{ number: 3 }]);
  });

  it('[I-5] waits for a short lock, and gives up a long one after 5 s', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    const holder = openDatabase(started.path);
    holder.exec('BEGIN IMMEDIATE');
    const short = post(started, ledger, 1);
    await started.clock.advance(100);
    holder.exec('COMMIT');
    await started.clock.advance(500);
    expect(await short).toBe('durable');
    holder.exec('BEGIN IMMEDIATE');
    const long = post(started, ledger, 2);
    await started.clock.advance(5_500);
    expect([await long, started.store.degraded]).toEqual(['volatile', true]);
    holder.exec('COMMIT');
  });

  it('[I-5] goes on in a new file when the old one is deleted', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    for (const suffix of ['', '-wal', '-shm']) rmSync(started.path + suffix, { force: true });
    expect(await post(started, ledger, 2)).toBe('volatile');
    await started.clock.advance(1000);
    // The new file was given the message; now it gets its end.
    expect(await after(started, ledger.finish(1, 'done', 0))).toBe('durable');
    expect(await post(started, ledger, 3)).toBe('durable');
    const { recovered } = await own(await restart(started), 'b');
    expect(recovered.waiting.map(({ number }) => number)).toEqual([2, 3]);
  });

  it('[I-5] [R-16] gives a new file the calls too that an earlier runtime has left open', async () => {
    const first = await startStore();
    const { ledger } = await own(first);
    const call = { turn: 1, integration: 'bank', tool: 'charge', input: { reference: 'o-7' }, effect: undefined };
    const times = { seq: 7, at: 1000, deadlineAt: 2000 };
    await after(first, ledger.open({ call: 's-1-1', ...call, ...times, rule: 'ask' }));
    const second = await restart(first);
    const claimed = await own(second, 'b');
    expect(claimed.recovered.open).toMatchObject([{ call: 's-1-1', ...call }]);
    for (const suffix of ['', '-wal', '-shm']) rmSync(second.path + suffix, { force: true });
    await post(second, claimed.ledger, 1);
    await second.clock.advance(1000);
    const third = await restart(second);
    const again = await own(third, 'c');
    expect(again.recovered.open).toEqual(claimed.recovered.open);
    const done = { status: 'ok', value: 'ch_1', retries: 0 } as const;
    expect(await after(third, again.ledger.settle('s-1-1', done, undefined, 3000))).toBe('durable');
    expect(again.past(10)?.history).toMatchObject([{ call: 's-1-1' }, { call: 's-1-1', result: done }]);
  });

  const cuts: readonly (readonly [string, (path: string) => void])[] = [
    ['whose log is cut', (path) => truncateSync(`${path}-wal`, 0)],
    ['whose log is cut in the middle', (path) => truncateSync(`${path}-wal`, 5000)],
    ['whose log is deleted', (path) => rmSync(`${path}-wal`)],
    ['that is cut', (path) => truncateSync(path, 0)],
  ];

  it.each(cuts)('[I-5] sets a file aside %s, says so, and goes on in a new one', async (_, cut) => {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    openDatabase(started.path).exec('PRAGMA wal_checkpoint(PASSIVE)');
    expect(await post(started, ledger, 2)).toBe('durable');
    cut(started.path);
    expect(await post(started, ledger, 3)).toBe('volatile');
    const aside = `${started.path}.damaged-1`;
    expect(started.facts.of('store.degraded')).toMatchObject([{ reason: expect.stringContaining(aside) as string }]);
    expect(statSync(aside).isFile()).toBe(true);
    await started.clock.advance(1000);
    expect(started.facts.of('store.recovered')).toMatchObject([
      { dropped: 0, carried: 2, left: expect.any(Number) as number },
    ]);
    expect(await post(started, ledger, 4)).toBe('durable');
    const { recovered } = await own(await restart(started), 'b');
    expect(recovered.waiting.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  });

  const losses: readonly (readonly [string, (path: string) => void])[] = [
    ['deleted', (path) => rmSync(path)],
    ['cut', (path) => truncateSync(`${path}-wal`, 0)],
  ];

  it.each(losses)('[I-5] gives a new file what is held when the earlier one is %s: at a stop', async (_, lose) => {
    const started = await startStore();
    const { ledger } = await own(started);
    for (let number = 1; number < 5; number++) await post(started, ledger, number);
    await after(started, ledger.take(1, 1, 1, 0));
    await after(started, ledger.finish(1, 'done', 0));
    await after(started, ledger.take(2, 2, 2, 0));
    lose(started.path);
    const { store, clock } = started;
    void ledger.putBack(2, true);
    store.runtimes.leave('a');
    const closed = store.close();
    await clock.advance(5_000);
    await closed;
    const { recovered, past } = await own(await startStore({ path: started.path }), 'b');
    expect(recovered.waiting.map(({ number, deliveries }) => [number, deliveries])).toEqual([
      [2, 1],
      [3, 0],
      [4, 0],
    ]);
    expect(past(100)).toMatchObject({ lastMessage: 4, lastTurn: 2 });
  });

  it.each(losses)('[I-5] gives it the same when the runtime then ends without a stop: %s', async (_, lose) => {
    const started = await startStore();
    const { ledger } = await own(started, 'dead');
    const posted = ledger.post({
      number: 1,
      message: { kind: 'user', text: 'm' },
      key: 'k',
      at: started.clock.wallNow(),
    });
    await after(started, posted);
    await post(started, ledger, 2);
    await post(started, ledger, 3);
    await after(started, ledger.take(1, 1, 1, 0));
    await after(started, ledger.finish(1, 'done', 0));
    await after(started, ledger.take(2, 2, 2, 0));
    const call = {
      call: 's-c1',
      turn: 2,
      integration: 'kb',
      tool: 't',
      input: { q: 1 },
      effect: undefined,
      seq: 3,
      at: 0,
      deadlineAt: 9,
    };
    expect(await after(started, ledger.open(call))).toBe('durable');
    lose(started.path);
    expect(await post(started, ledger, 4)).toBe('volatile');
    await started.clock.advance(1000);
    // No close: another process takes over what it finds.
    const { recovered, past } = await own(await startStore({ path: started.path }), 'b');
    expect(recovered.waiting.map(({ number, deliveries }) => [number, deliveries])).toEqual([
      [2, 1],
      [3, 0],
      [4, 0],
    ]);
    expect(recovered.lost).toMatchObject([{ call: 's-c1', integration: 'kb', turn: 2 }]);
    expect(past(100)).toMatchObject({ lastMessage: 4, lastTurn: 2, keys: [['k', 1]] });
  });

  it('[I-5] counts as dropped what another runtime keeps it from giving to a new file', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    rmSync(started.path);
    await own(await startStore({ path: started.path }), 'b');
    expect(await post(started, ledger, 2)).toBe('volatile');
    await started.clock.advance(1000);
    expect(started.facts.of('store.recovered')).toMatchObject([{ dropped: 1, carried: 0 }]);
  });

  it('[I-5] goes on in the same file whose log another connection has begun anew', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    const other = openDatabase(started.path);
    for (let number = 2; number < 6; number++) {
      other.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      expect(statSync(`${started.path}-wal`).size).toBe(0);
      expect(await post(started, ledger, number)).toBe('durable');
    }
    expect(started.facts.of('store.degraded')).toEqual([]);
  });

  it('[M-11] is lost to who has claimed it first in a new file', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    rmSync(started.path);
    const other = await startStore({ path: started.path });
    await own(other, 'b');
    await post(started, ledger, 1);
    await started.clock.advance(1000);
    expect(await post(started, ledger, 2)).toBe('fenced');
  });
});

describe.skipIf(!hasSqlite)('an end that a lock kept from being written', () => {
  it('[I-5] is left beside the file at the stop: its message is not delivered again', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    await post(started, ledger, 2);
    await after(started, ledger.take(1, 1, 1, 0));
    const holder = openDatabase(started.path);
    holder.exec('BEGIN IMMEDIATE');
    const ended = ledger.finish(1, 'done', 0);
    await started.clock.advance(5_500);
    expect(await ended).toBe('volatile');
    started.store.runtimes.leave('a');
    const closed = started.store.close();
    await started.clock.advance(5_500);
    await closed;
    holder.exec('COMMIT');
    const { recovered } = await own(await startStore({ path: started.path }), 'b');
    expect(recovered.waiting.map(({ number }) => number)).toEqual([2]);
  });
});

describe.skipIf(!hasSqlite)('what a turn said of its failure', () => {
  it('[O-2] is stored as far as 2,000 characters go', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    await after(started, ledger.finish(1, 'failed', 0, `GET failed: ${'x'.repeat(5_000)}`));
    const row = openDatabase(started.path).prepare('SELECT state, error FROM unwedge_messages').get();
    expect(row).toMatchObject({ state: 'failed', error: expect.stringContaining('GET failed') as string });
    expect(String(row?.['error'])).toHaveLength(2_001);
  });
});

describe.skipIf(!hasSqlite)('sessions in a file that cannot be used', () => {
  /** A file with one message that waits. */
  async function keptFile(): Promise<string> {
    const started = await startStore();
    const { ledger } = await own(started);
    await post(started, ledger, 1);
    await started.store.close();
    return started.path;
  }

  it.each([
    ['is no database', (path: string) => writeFileSync(path, 'not a database'.repeat(1000))],
    ['is cut off', (path: string) => truncateSync(path, 5000)],
    ['has bytes of something else in it', (path: string) => writeFileSync(path, Buffer.alloc(4096, 7), { flag: 'r+' })],
  ])('[I-5] are not kept, and the file is left as it is: one that %s', async (_, damage) => {
    const path = await keptFile();
    damage(path);
    const before = readFileSync(path);
    const started = await startStore({ path });
    expect(await claim(started)).toBeUndefined();
    expect(started.facts.of('store.degraded')).toMatchObject([{ fix: expect.stringContaining('move') as string }]);
    started.store.runtimes.leave('a');
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('[I-5] are not kept, and the file is not touched, when its schema is newer', async () => {
    const path = await keptFile();
    openDatabase(path).exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 99');
    const before = readFileSync(path);
    const started = await startStore({ path });
    expect(await claim(started)).toBeUndefined();
    expect(started.lines).toEqual([
      expect.stringContaining('the schema has version 99, this version of unwedge knows'),
    ]);
    await started.store.close();
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(statSync(`${path}-wal`, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('[G-11] are there again when the file is', async () => {
    const path = await keptFile();
    const copy = join(temporaryDirectory(), 'copy.sqlite');
    copyFileSync(path, copy);
    writeFileSync(path, 'not a database'.repeat(1000));
    const started = await startStore({ path });
    expect(await claim(started)).toBeUndefined();
    copyFileSync(copy, path);
    openDatabase(path).exec(`UPDATE unwedge_sessions SET owner = 'dead'`);
    await started.clock.advance(1000);
    expect((await own(started)).recovered.waiting).toMatchObject([{ number: 1 }]);
  });

  it('[I-5] keeps what is large', async () => {
    const started = await startStore();
    const { ledger } = await own(started);
    const message = { kind: 'user', text: 'x'.repeat(5_000_000) };
    expect(await after(started, ledger.post({ number: 1, message, key: undefined, at: started.clock.wallNow() }))).toBe(
      'durable',
    );
    const { recovered } = await own(await restart(started), 'b');
    expect(recovered.waiting[0]?.message).toEqual(message);
  });
});
