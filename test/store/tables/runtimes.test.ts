import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { identify, seeWorld } from '../../../src/actors/process/processIdentity.ts';
import { openReader } from '../../../reader/openReader.ts';
import { judgeRuntimes, type RuntimeIdentity, type RuntimeRow } from '../../../src/store/runtimes.ts';
import { limits } from '../conformance/owned.ts';
import { hasSqlite, openDatabase, startStore, temporaryDirectory, sessionsOf } from '../startStore.ts';

const start = Date.UTC(2026, 0, 1);
const world = await seeWorld();
const self = identify(world, process.pid);

const run = (id: string, more: Partial<RuntimeRow> = {}): RuntimeRow => ({
  id,
  pid: process.pid,
  processStart: self.start,
  startedAt: start,
  renewedAt: start,
  name: 'gateway.mjs',
  socket: '/run/one.sock',
  ...more,
});
/** Of this pid, and of a process before it. */
const dead = { processStart: `${self.start.split('@')[0]}0${self.start.slice(self.start.indexOf('@'))}` };
/** Of another container on this machine. */
const elsewhere = { processStart: [...self.start.split('@').slice(0, 2), 'pid:[1]'].join('@') };

async function list(path: string): Promise<readonly RuntimeRow[]> {
  const reader = await openReader(path);
  const rows = await reader.runtimes();
  reader.close();
  return rows;
}

async function startWith(...runs: readonly RuntimeRow[]) {
  const started = await startStore();
  for (const each of runs) started.store.runtimes.enter(each);
  await started.store.flush();
  return started;
}

describe.skipIf(!hasSqlite)('the runtimes of a database', () => {
  it('[L-5] are listed while they run, the oldest first', async () => {
    const { path } = await startWith(run('new', { startedAt: start + 1, socket: undefined }), run('old'));
    expect(await list(path)).toEqual([run('old'), run('new', { startedAt: start + 1, socket: undefined })]);
  });

  it('[L-5] leave when they stop', async () => {
    const { store, path } = await startWith(run('one'), run('two'));
    store.runtimes.leave('one');
    await store.flush();
    expect((await list(path)).map(({ id }) => id)).toEqual(['two']);
  });

  it('renew their row, with the whole ms of a clock that counts fractions', async () => {
    const { store, path } = await startWith(run('one'));
    store.runtimes.enter(run('one', { startedAt: start + 5, renewedAt: start + 60_000.4, socket: undefined }));
    await store.flush();
    expect(await list(path)).toEqual([run('one', { renewedAt: start + 60_000, socket: undefined })]);
  });

  it('[L-5] are judged by pid and start: a pid that was given away is not alive', () => {
    const judged = judgeRuntimes([run('one'), run('two', dead), run('three', elsewhere)], world, start);
    expect(judged.map(({ liveness }) => liveness)).toEqual(['alive', 'dead', 'unknown']);
  });

  it('count as dead when they cannot be judged and did not renew for five minutes', () => {
    const [one, two] = [run('one', elsewhere), run('two', { processStart: '' })];
    const at = (now: number) => judgeRuntimes([one, two], world, now).map(({ liveness }) => liveness);
    expect(at(start + 299_999)).toEqual(['unknown', 'unknown']);
    expect(at(start + 300_000)).toEqual(['dead', 'dead']);
  });

  it('[L-5] lose those that died without leaving, and no others', async () => {
    const { store, clock, path } = await startWith(run('one'), run('two', dead), run('three', elsewhere));
    const died = store.runtimes.removeDead(world, start);
    await clock.settle();
    expect((await died).map(({ id }) => id)).toEqual(['two']);
    expect((await list(path)).map(({ id }) => id)).toEqual(['one', 'three']);
  });

  it.each([
    [
      'a message waits',
      `INSERT INTO unwedge_messages (session, number, body, state, posted_at) VALUES ('s', 1, '{}', 'waiting', 0)`,
    ],
    [
      'a call is pending',
      `INSERT INTO unwedge_calls (id, session, turn, integration, tool, runtime, started_at, deadline_at, seq)
       VALUES ('c', 's', 1, 'kb', 'query', 'two', 0, 1, 1)`,
    ],
  ])('[L-5] keep one that died as long as %s of its session, until another claims that', async (_what, sql) => {
    const { store, clock, path } = await startWith(run('one'), run('two', dead));
    const database = openDatabase(path);
    database.exec(`INSERT INTO unwedge_sessions VALUES ('s', 'two', 1)`);
    database.exec(sql);
    const looked = store.runtimes.removeDead(world, start);
    await clock.settle();
    expect(await looked).toEqual([]);
    expect((await list(path)).map(({ id }) => id)).toEqual(['one', 'two']);
    database.exec(`UPDATE unwedge_sessions SET owner = 'one'`);
    const died = store.runtimes.removeDead(world, start);
    await clock.settle();
    expect((await died).map(({ id }) => id)).toEqual(['two']);
  });

  it('[I-4] lose one that ended in order and could not say so, without a record of a death', async () => {
    const { store, clock, path } = await startWith(run('one'), run('two', dead));
    writeFileSync(`${path}-left-two`, '[]');
    const died = store.runtimes.removeDead(world, start, () => [{ type: 'listener.failed', event: 'x', error: 'x' }]);
    await clock.settle();
    expect(await died).toEqual([]);
    expect((await list(path)).map(({ id }) => id)).toEqual(['one']);
    expect(await store.read({ limit: 10 })).toEqual([]);
  });

  it('are none in a database of an earlier version', async () => {
    const { path } = await startWith();
    openDatabase(path).exec('DROP TABLE unwedge_runtimes');
    expect(await list(path)).toEqual([]);
  });

  it('[O-2] are entered once the store is well again, by the latest write alone', async () => {
    const { store, clock, path } = await startWith();
    const other = openDatabase(path);
    other.exec('BEGIN IMMEDIATE');
    store.runtimes.enter(run('one'));
    store.runtimes.enter(run('one', { renewedAt: start + 1 }));
    await clock.advance(6_000);
    expect(store.degraded).toBe(true);
    other.exec('ROLLBACK');
    await clock.advance(1_000);
    expect(await list(path)).toEqual([run('one', { renewedAt: start + 1 })]);
  });

  it('[O-2] are left alone by a store that cannot be opened', async () => {
    const { store } = await startStore({ path: temporaryDirectory() });
    store.runtimes.enter(run('one'));
    store.runtimes.leave('one');
    await expect(store.runtimes.removeDead(world, start)).resolves.toEqual([]);
  });

  it('[G-11] are judged one by one: a claim reads the run of the last owner alone, however many there are', async () => {
    const openCall = (call: string) => ({ integration: 'kb', call, tool: 'query', startedAt: start });
    const others = ['one', 'two'].map((id) => run(id, { calls: [openCall(`call of ${id}`)] }));
    const { store, path, clock } = await startWith(...others, run('owner', { calls: [openCall('call of owner')] }));
    openDatabase(path).exec(`INSERT INTO unwedge_sessions (id, owner, fence) VALUES ('s', 'owner', 1)`);
    const isAlive = vi.fn<RuntimeIdentity['isAlive']>(() => true);
    const parse = vi.spyOn(JSON, 'parse');
    const claimed = sessionsOf(store, { id: 'other', isAlive }).claim('s', limits());
    await clock.settle();
    expect(await claimed).toEqual({ held: true, by: 'owner' });
    expect(isAlive.mock.calls.map(([{ id }]) => id)).toEqual(['owner']);
    const read = parse.mock.calls.flatMap(([text]) => /call of \w+/.exec(text) ?? []);
    expect(read).toEqual(['call of owner']);
  });
});
