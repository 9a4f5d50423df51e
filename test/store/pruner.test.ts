import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noFigures } from '../../src/policy/records/callFigures.ts';
import type { RetentionOptions } from '../../src/policy/retention.ts';
import type { SessionLedger } from '../../src/sessions/sessionStore.ts';
import type { Database } from '../../src/store/sqlite/database.ts';
import { pruneSession, usedBytes } from '../../src/store/sqlite/prune.ts';
import {
  failed,
  hasSqlite,
  openDatabase,
  type StartedStore,
  startStore,
  storedCalls,
  temporaryDirectory,
  sessionsOf,
} from './startStore.ts';

const start = Date.UTC(2026, 0, 1);
const day = 24 * 60 * 60_000;
const hour = 60 * 60_000;
/** Keeps a day. */
const oneDay = { maxAgeMs: day };

const count = (database: Database, table: string): number =>
  Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n']);

/** A store with failures of these ages in ms, their calls named by their place. */
async function startWith(agesMs: readonly number[], options: Parameters<typeof startStore>[0] = {}) {
  const started = await startStore({ retention: oneDay, ...options });
  agesMs.forEach((ageMs, index) => started.store.record({ ...failed(index), at: start - ageMs }));
  await commit(started);
  return started;
}

/** More than one commit holds takes several turns. */
async function commit({ store, clock }: StartedStore): Promise<void> {
  const flushed = store.flush();
  await clock.settle();
  await flushed;
}

describe.skipIf(!hasSqlite)('records', () => {
  it('[O-7] are deleted at their age, not a millisecond before, and that is told', async () => {
    const { path, clock, facts } = await startWith([day - 60_000 + 1, day - 60_000, day - 60_000 - 1]);
    await clock.advance(59_999);
    expect(storedCalls(path)).toHaveLength(3);
    await clock.advance(1);
    expect(storedCalls(path)).toEqual(['call-1', 'call-2']);
    await clock.advance(1_000);
    expect(facts.of('store.pruned')).toMatchObject([{ rows: 1, because: 'age' }]);
  });

  it('[O-7] [O-10] are deleted with the figures of calls of that age', async () => {
    const { store, clock } = await startWith([]);
    const row = { integration: 'kb', tool: undefined, ...noFigures, succeeded: 1 };
    const minutes = [start - day, start - day + 120_000];
    store.statistics.add(minutes.map((minute) => ({ ...row, minute })));
    await clock.advance(61_000);
    expect((await store.statistics.read(0)).map(({ minute }) => minute)).toEqual([start - day + 120_000]);
  });

  it('[O-7] are looked through every hour, and nothing is told when nothing is deleted', async () => {
    const { path, clock, facts } = await startWith([0, day - 2 * hour]);
    await clock.advance(60_000 + 1_000);
    expect([storedCalls(path).length, facts.of('store.pruned').length]).toEqual([2, 0]);
    await clock.advance(hour);
    expect(storedCalls(path)).toHaveLength(2);
    await clock.advance(hour);
    expect([storedCalls(path), facts.of('store.pruned').length]).toEqual([['call-0'], 1]);
  });

  it('[O-7] are looked through by a quarter of their age where that is less than an hour, but once a minute at most', async () => {
    const minute = 60_000;
    const { path, clock } = await startWith([0], { retention: { maxAgeMs: 4 * minute } });
    await clock.advance(4 * minute);
    expect(storedCalls(path)).toHaveLength(1);
    await clock.advance(minute + 1_000);
    expect(storedCalls(path)).toHaveLength(0);
  });

  it('[O-7] go in steps of at most 500, with pauses for others', async () => {
    const { path, clock } = await startWith(Array.from({ length: 2_000 }, () => 2 * day));
    const database = openDatabase(path);
    const left: number[] = [count(database, 'events')];
    await clock.advance(60_000);
    for (let step = 0; step < 10; step++) {
      left.push(count(database, 'events'));
      await clock.advance(20);
    }
    const steps = left.slice(1).map((now, index) => (left[index] ?? 0) - now);
    expect(Math.max(...steps)).toBe(500);
    expect(left.at(-1)).toBe(0);
  });

  it('[O-7] are all kept without retention, as in a short-lived process', async () => {
    const { path, clock } = await startWith([100 * day], { retention: undefined });
    await clock.advance(2 * hour);
    expect(storedCalls(path)).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('[O-7] [O-12] are deleted but for the totals of calls, a hundred of each kind, when the store closes before the first pass: a file that is only opened for moments', async () => {
    const { path, store } = await startWith([...Array.from({ length: 101 }, () => 2 * day), day]);
    const row = { integration: 'kb', tool: undefined, ...noFigures, succeeded: 1 };
    store.statistics.add([2 * day, 0].map((ageMs) => ({ ...row, minute: start - ageMs })));
    await store.close();
    expect(storedCalls(path)).toEqual(['call-100', 'call-101']);
    const file = openDatabase(path);
    const [ofMinutes, ofAll] = ['minute >= 0', 'minute = -1'].map((which) =>
      count(file, `unwedge_statistics WHERE ${which}`),
    );
    expect({ ofMinutes, ofAll }).toEqual({ ofMinutes: 1, ofAll: 1 });
  });

  it('[O-7] are not looked at again by the close of a store that has made its pass', async () => {
    const { path, store, clock } = await startWith([day - 61_000]);
    await clock.advance(60_500);
    await clock.advance(501);
    await store.close();
    expect(storedCalls(path)).toHaveLength(1);
  });

  it('[O-7] [I-3] leave no timer behind when the store is closed', async () => {
    const { store, clock } = await startWith([2 * day]);
    await store.close();
    expect(clock.pending).toBe(0);
  });

  it('[O-7] [O-2] are let be while the store is degraded, and deleted an hour later', async () => {
    const { path, clock } = await startWith([2 * day]);
    const holder = openDatabase(path);
    holder.exec('BEGIN IMMEDIATE');
    await clock.advance(10 * 60_000);
    holder.exec('COMMIT');
    await clock.advance(hour);
    expect(storedCalls(path)).toEqual([]);
  });
});

describe.skipIf(!hasSqlite)('too many records', () => {
  /** Some 3 MB, one event a minute, the last one now. */
  async function startLarge(maxBytes: number) {
    const minutes = Array.from({ length: 1_500 }, (_, index) => (1_499 - index) * 60_000);
    const started = await startStore({ retention: { maxBytes } });
    const message = 'x'.repeat(2_000);
    for (const ageMs of minutes) {
      const fact = failed(ageMs);
      started.store.record({ ...fact, at: start - ageMs, failure: { ...fact.failure, message } });
    }
    await commit(started);
    return started;
  }

  it('[O-7] go from the oldest on until what is used is within the bound', async () => {
    const { path, clock, facts } = await startLarge(1_000_000);
    await clock.advance(2 * 60_000);
    const database = openDatabase(path);
    expect(usedBytes(database)).toBeLessThanOrEqual(1_000_000);
    const { oldest, kept } = database
      .prepare('SELECT min(timestamp) AS oldest, count(*) AS kept FROM events')
      .get() as { oldest: number; kept: number };
    expect(kept).toBeGreaterThan(50);
    // Without a gap: the youngest are what is kept.
    expect(kept).toBe((start - oldest) / 60_000 + 1);
    expect(facts.of('store.pruned')).toMatchObject([{ because: 'size', rows: 1_500 - kept }]);
  });

  it('[O-7] are all kept as long as they are within the bound', async () => {
    const { path, clock } = await startLarge(100_000_000);
    await clock.advance(2 * 60_000);
    expect(count(openDatabase(path), 'events')).toBe(1_500);
  });
});

describe.skipIf(!hasSqlite)('a database of somebody else', () => {
  const events = 'CREATE TABLE events (timestamp INTEGER, category TEXT, event_type TEXT, metadata TEXT)';

  it('[O-7] loses none of its events, whoever wrote them', async () => {
    const path = join(temporaryDirectory(), 'observability.sqlite');
    const database = openDatabase(path);
    database.exec(`${events}; INSERT INTO events VALUES (1, 'gateway', 'start', '{}')`);
    const { clock } = await startWith([100 * day], { path, retention: { maxAgeMs: 1, maxBytes: 1_000_000 } });
    await clock.advance(2 * 60_000);
    expect(count(database, 'events')).toBe(2);
  });

  it('[O-7] loses nothing for its size, which is not ours', async () => {
    const path = join(temporaryDirectory(), 'large.sqlite');
    openDatabase(path).exec('CREATE TABLE theirs AS SELECT zeroblob(3000000) AS blob');
    const { clock } = await startWith([hour, 2 * hour], { path, retention: { maxBytes: 1_000_000 } });
    await clock.advance(2 * 60_000);
    expect(storedCalls(path, 'unwedge_events')).toHaveLength(2);
  });

  it('[O-7] loses what is old in a table of our own', async () => {
    const path = join(temporaryDirectory(), 'other.sqlite');
    openDatabase(path).exec('CREATE TABLE theirs (id TEXT)');
    const { clock } = await startWith([2 * day, 0], { path });
    await clock.advance(2 * 60_000);
    expect(storedCalls(path, 'unwedge_events')).toEqual(['call-1']);
  });
});

describe.skipIf(!hasSqlite)('what is kept of sessions', () => {
  /** A session with so many messages, each of which was processed at once, with one call. */
  async function startSession(processed: number, retention: RetentionOptions = oneDay) {
    const started = await startStore({ retention });
    const { store, clock, path } = started;
    const now = clock.wallNow();
    store.runtimes.enter({
      id: 'a',
      pid: 1,
      processStart: '',
      startedAt: now,
      renewedAt: now,
      name: 'a',
      socket: undefined,
    });
    const limits = {
      maxDeliveries: 3,
      maxAgeMs: day,
      wallNow: now,
      answer: () => result,
      facts: () => [],
    };
    const claiming = sessionsOf(store, { id: 'a', isAlive: () => true }).claim('s', limits);
    await clock.settle();
    const claimed = await claiming;
    if (claimed === undefined || claimed.held) throw new Error('the session was not claimed');
    const { ledger } = claimed;
    for (let number = 1; number <= processed; number++) process(ledger, number, now);
    await commit(started);
    return { ...started, ledger, database: openDatabase(path) };
  }
  const result = { status: 'ok', value: 1, retries: 0 } as const;
  function process(ledger: SessionLedger, number: number, at: number): void {
    void ledger.post({ number, message: { kind: 'user', text: 'hello' }, key: undefined, at });
    void ledger.take(number, number, 3 * number - 2, at);
    const about = { turn: number, integration: 'kb', tool: 'ask', input: {}, effect: undefined } as const;
    void ledger.open({ ...about, call: `s-${number}-1`, seq: 3 * number - 1, at, deadlineAt: at + 1 });
    void ledger.settle(`s-${number}-1`, result, 3 * number, at);
    void ledger.finish(number, 'done', at);
  }
  const numbers = (database: Database): unknown[] =>
    database
      .prepare('SELECT number FROM unwedge_messages ORDER BY number')
      .all()
      .map((row) => row['number']);

  it('[O-7] is deleted when it is over and old, but for the last message of a session that is owned', async () => {
    const { clock, database, facts } = await startSession(3);
    await clock.advance(day - 2 * hour);
    expect([numbers(database), count(database, 'unwedge_calls')]).toEqual([[1, 2, 3], 3]);
    await clock.advance(3 * hour);
    expect([numbers(database), count(database, 'unwedge_calls')]).toEqual([[3], 0]);
    expect(facts.of('store.pruned')).toMatchObject([{ rows: 5 }]);
  });

  it('[O-7] [I-5] stays as long as it waits or is pending, however old', async () => {
    const { store, clock, database, ledger } = await startSession(1);
    const at = clock.wallNow();
    void ledger.post({ number: 2, message: { kind: 'user', text: 'waits' }, key: undefined, at });
    void ledger.open({
      call: 's-1-2',
      turn: 1,
      integration: 'kb',
      tool: 'ask',
      input: {},
      effect: undefined,
      seq: 9,
      at,
      deadlineAt: at,
    });
    void ledger.post({ number: 3, message: { kind: 'user', text: 'hello' }, key: undefined, at });
    await store.flush();
    // As if it had been begun, ended and put back.
    database.exec('UPDATE unwedge_messages SET ended_at = 1 WHERE number = 2');
    await clock.advance(10 * day);
    expect(numbers(database)).toEqual([2, 3]);
    expect(database.prepare('SELECT id FROM unwedge_calls').all()).toEqual([{ id: 's-1-2' }]);
  });

  it('[O-7] is deleted in one pass however much there is of it, around what stays', async () => {
    const { clock, database } = await startSession(250);
    database.exec(`UPDATE unwedge_messages SET state = 'waiting' WHERE number = 2`);
    database.exec(`UPDATE unwedge_calls SET state = 'pending' WHERE turn = 2`);
    await clock.advance(day + hour);
    expect([numbers(database), count(database, 'unwedge_calls')]).toEqual([[2, 250], 1]);
  });

  it('[O-7] is looked at from its beginning, no more of it than one step may delete', async () => {
    const { database, clock } = await startSession(11);
    const young = clock.wallNow() + 1;
    database.exec(`UPDATE unwedge_messages SET ended_at = ${young} WHERE number <= 10`);
    database.exec(`UPDATE unwedge_calls SET settled_at = ${young} WHERE turn <= 10`);
    database.exec('DELETE FROM unwedge_runtimes');
    expect(pruneSession(database, '', young, 10)).toEqual({ rows: 0, next: 's' });
    expect(pruneSession(database, '', young, 11)).toEqual({ rows: 2, next: '' });
  });

  it.each([
    [2 * day, [3]],
    [2 * day - 2, [1, 2, 3]],
  ])('[O-7] goes for the size of the store from a day of age on, no younger: of %d ms', async (maxAgeMs, left) => {
    const { clock, database } = await startSession(3, { maxAgeMs, maxBytes: 1_000_000 });
    // The last message stays, and is more than the store may have.
    database.exec('UPDATE unwedge_messages SET body = hex(zeroblob(1000000)) WHERE number = 3');
    await clock.advance(30 * hour);
    expect(numbers(database)).toEqual(left);
  });

  it('[O-7] leaves nothing of a session that nobody owns', async () => {
    const { clock, database, ledger } = await startSession(2);
    void ledger.release();
    await clock.advance(2 * day);
    expect([numbers(database), count(database, 'unwedge_sessions')]).toEqual([[], 0]);
  });

  it('[O-7] leaves the session of a runtime that has gone, while anything of it is young', async () => {
    const { clock, database, store } = await startSession(2);
    store.runtimes.leave('a');
    await clock.advance(day - 2 * hour);
    expect(count(database, 'unwedge_sessions')).toBe(1);
    await clock.advance(3 * hour);
    expect([numbers(database), count(database, 'unwedge_sessions')]).toEqual([[], 0]);
  });
});
