import { describe, expect, it } from 'vitest';
import { limits, message } from '../conformance/owned.ts';
import { hasSqlite, openDatabase, startStore } from '../startStore.ts';

describe.skipIf(!hasSqlite)('sessions of a file that are claimed together', () => {
  async function start() {
    const { store: one, clock, path } = await startStore();
    const { store: two } = await startStore({ path, clock });
    const dead = new Set<string>();
    const of = (store: typeof one, id: string) => {
      const sessions = store.sessions?.({ id, isAlive: (run) => !dead.has(run.id) });
      store.runtimes.enter({ id, pid: 1, processStart: '1', startedAt: 0, renewedAt: 0, name: id, socket: undefined });
      if (sessions?.claimAll === undefined) throw new Error('no sessions');
      const claimAll = sessions.claimAll.bind(sessions);
      return async (...ids: string[]) => {
        const claims = claimAll(ids.map((each) => ({ id: each, limits: limits() })));
        await clock.settle();
        return claims;
      };
    };
    return { a: of(one, 'run-a'), b: of(two, 'run-b'), clock, path, dead };
  }

  it('[G-11] gives each in their order: a new one, one of ours, one that another has, one with something to go on', async () => {
    const { a, b, clock } = await start();
    const [left] = await a('left');
    if (left?.held !== false) throw new Error('held');
    void left.ledger.post(message(1));
    await clock.settle();
    const released = left.ledger.release();
    await clock.settle();
    await released;
    await a('theirs');
    await b('ours');
    const claims = await b('new', 'theirs', 'left', 'ours');
    expect(claims).toMatchObject([
      { held: false, recovered: { waiting: [], lost: [], open: [], deadLetters: [] } },
      { held: true, by: 'run-a' },
      { held: false, recovered: { waiting: [{ number: 1 }] } },
      { held: false, recovered: { waiting: [] } },
    ]);
  });

  it('[G-11] raises the fence of each once, so that an earlier claim of it writes nothing', async () => {
    const { a, clock, path } = await start();
    const [first] = await a('s');
    const [second] = await a('s', 't');
    if (first?.held !== false || second?.held !== false) throw new Error('held');
    const [late, now] = [first.ledger.post(message(1)), second.ledger.post(message(1))];
    await clock.settle();
    expect(await Promise.all([late, now])).toEqual(['fenced', 'durable']);
    const rows = openDatabase(path).prepare('SELECT id, fence FROM unwedge_sessions ORDER BY id').all();
    expect(rows).toEqual([
      { id: 's', fence: 2 },
      { id: 't', fence: 1 },
    ]);
  });

  it('[G-11] takes over those of a run that has died, with those that were free', async () => {
    const { a, b, dead } = await start();
    await a('one', 'two');
    expect((await b('one', 'free', 'two')).map((claim) => claim?.held)).toEqual([true, false, true]);
    dead.add('run-a');
    expect((await b('one', 'free', 'two')).map((claim) => claim?.held)).toEqual([false, false, false]);
  });
});
