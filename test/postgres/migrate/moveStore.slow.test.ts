import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identify, seeWorld } from '../../../src/actors/process/processIdentity.ts';
import { noFigures } from '../../../src/policy/records/callFigures.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { type MoveOptions, moveStore, retire } from '../../../postgres/migrate/moveStore.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { openReader } from '../../../reader/openReader.ts';
import { openStore } from '../../../src/store/openStore.ts';
import type { Store } from '../../../src/store/store.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { asked, limits, message, now } from '../claimedSession.ts';
import { newSchema, type TestSchema } from '../../store/startPostgres.ts';
import { failed, hasSqlite, openDatabase, sessionsOf, temporaryDirectory } from '../../store/startStore.ts';

const call = {
  turn: 1,
  integration: 'bank',
  tool: 'pay',
  input: { amount: 5 },
  effect: 'mutating',
  seq: 2,
  at: now,
} as const;
const minute = { minute: 60_000, integration: 'bank', tool: undefined, ...noFigures };

async function openFile(path: string): Promise<Store> {
  const store = await openStore({ path, required: true, clock: systemClock, facts: new RecordedFacts(), env: {} });
  onTestFinished(() => store.close());
  return store;
}

/** A file as a killed gateway leaves it: one message done, one begun with a call under way, one that waits under a key. */
async function fileOfKilledGateway(session = 's'): Promise<string> {
  const path = `${temporaryDirectory()}/gw.sqlite`;
  const store = await openFile(path);
  store.runtimes.enter({
    id: 'gone',
    pid: 1,
    processStart: 'no@such@process',
    startedAt: now,
    renewedAt: now,
    name: 'gw',
    socket: undefined,
  });
  const claim = await sessionsOf(store, { id: 'gone', isAlive: () => true }).claim(session, limits);
  if (claim === undefined || claim.held) throw new Error('not claimed');
  const { ledger } = claim;
  for (const number of [1, 2]) await ledger.post(message(number));
  await ledger.post({ ...message(3), key: 'once' });
  await ledger.take(1, 1, 1, now);
  await ledger.finish(1, 'done', now);
  await ledger.take(2, 2, 3, now);
  await ledger.open({ ...call, call: `${session}-call`, deadlineAt: now + 1000 });
  store.breakers.save('bank', {
    state: 'open',
    openedAt: 1,
    openUntil: 2,
    lastOpenMs: 1,
    openings: 3,
    failures: 5,
    generation: 7,
    cause: undefined,
  });
  store.statistics.add([{ ...minute, succeeded: 2 }]);
  for (let each = 1; each <= 1200; each++) store.record(failed(each));
  await store.flush();
  await store.close();
  return path;
}

async function move(from: string, to: TestSchema, more: Partial<MoveOptions> = {}) {
  const options = { from, to: to.url, dryRun: false, world: await seeWorld(), clock: systemClock, ...more };
  const moved = await moveStore(options);
  await retire(moved, systemClock);
  return moved;
}

describe.skipIf(!hasPostgres || !hasSqlite)('a store that is moved from a file', () => {
  it('[N-1] [I-5] brings every message that waits or was begun, every call without a result, and every key', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const moved = await move(from, schema);
    expect(moved).toMatchObject({ messages: 2, calls: 1, before: false, kept: `${from}.moved` });
    expect(existsSync(`${from}.moved`)).toBe(true);
    const claim = await asked(await schema.open(), 'new');
    if (claim === undefined || claim.held) throw new Error('not claimed');
    expect(claim.recovered.waiting.map(({ number, deliveries }) => [number, deliveries])).toEqual([
      [2, 1],
      [3, 0],
    ]);
    expect(claim.recovered.lost.map(({ call: id, input }) => [id, input])).toEqual([['s-call', { amount: 5 }]]);
    expect(claim.past(10)).toMatchObject({ keys: [['once', 3]], lastMessage: 3, lastTurn: 2 });
  });

  it('[N-1] [I-5] [I-6] leaves a file that says where it went: who still has its path does not start, nor moves it again', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const { to } = await move(from, schema);
    const gone = `${from}: what was in this file was moved to ${to} on `;
    await expect(createGateway({ store: from }).start()).rejects.toThrow(gone);
    await expect(createGateway({ store: from }).start()).rejects.toThrow('or delete the file to begin a new one');
    await expect(move(from, await newSchema())).rejects.toThrow(gone.replace(': what', ' cannot be read: what'));
    await expect(openReader(from)).rejects.toThrow('was moved to');
    // A gateway that takes what it can get keeps nothing there, and says so.
    const facts = new RecordedFacts();
    const store = await openStore({ path: from, required: false, clock: systemClock, facts, env: {} });
    onTestFinished(() => store.close());
    expect([store.degraded, facts.of('store.degraded')[0]?.reason]).toEqual([true, expect.stringContaining(gone)]);
    rmSync(from);
    await openFile(from);
  });

  it('[N-1] brings circuits, figures and every event', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    await move(from, schema);
    const store = await schema.open();
    expect(store.breakers.load('bank')).toMatchObject({ state: 'open', openings: 3, generation: 7 });
    expect(await store.statistics.totals()).toMatchObject([{ integration: 'bank', succeeded: 2 }]);
    expect(await store.read({ limit: 2000, integration: 'kb', failed: true })).toHaveLength(1200);
  });

  it('[N-1] adds the figures of a second file, and takes no session twice', async () => {
    const [schema, first] = [await newSchema(), await fileOfKilledGateway()];
    await move(first, schema);
    await move(await fileOfKilledGateway('other'), schema);
    const store = await schema.open();
    expect(await store.statistics.totals()).toMatchObject([{ integration: 'bank', succeeded: 4 }]);
    const same = await fileOfKilledGateway();
    await expect(move(same, schema)).rejects.toThrow('Session s is in postgres://');
    expect(existsSync(same)).toBe(true);
    expect(await schema.ask('SELECT count(*)::int AS n FROM uw.message')).toEqual([{ n: 6 }]);
  });

  it('[N-1] [I-5] copies nothing twice where an earlier move was cut off before the file was renamed', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    await moveStore({ from, to: schema.url, dryRun: false, world: await seeWorld(), clock: systemClock });
    expect(await move(from, schema)).toMatchObject({ before: true, kept: `${from}.moved` });
    expect(await schema.ask('SELECT count(*)::int AS n FROM uw.message')).toEqual([{ n: 3 }]);
  });

  it('[N-1] [I-5] changes nothing where it is stopped in the middle', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const stop = new AbortController();
    const progressed = (what: string) => {
      if (what === 'events') stop.abort();
    };
    await expect(move(from, schema, { signal: stop.signal, progressed })).rejects.toThrow('nothing was changed');
    expect(await schema.ask('SELECT count(*)::int AS n FROM uw.message')).toEqual([{ n: 0 }]);
    expect(await move(from, schema)).toMatchObject({ before: false });
  });

  it('[N-1] refuses a file that a live process has', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const { start } = identify(await seeWorld(), process.pid);
    const store = await openFile(from);
    store.runtimes.enter({
      id: 'me',
      pid: process.pid,
      processStart: start,
      startedAt: now,
      renewedAt: now,
      name: 'gw',
      socket: undefined,
    });
    await store.flush();
    await expect(move(from, schema)).rejects.toThrow(`gw (pid ${process.pid}) uses ${from}: stop it first`);
  });

  it('[N-1] lets nobody write into the file meanwhile, and refuses it when a process came to it just before', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const writing = openDatabase(from);
    const enter = () =>
      writing
        .prepare('INSERT INTO unwedge_runtimes VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)')
        .run('me', process.pid, identify(world, process.pid).start, Date.now(), Date.now(), 'gw');
    const world = await seeWorld();
    const refused: unknown[] = [];
    const progressed = () => {
      try {
        enter();
      } catch (error) {
        refused.push(error);
      }
    };
    await moveStore({ from, to: schema.url, dryRun: false, world, clock: systemClock, progressed });
    expect(refused).not.toHaveLength(0);
    expect(String(refused[0])).toContain('locked');
    let looks = 0;
    const clock = {
      ...systemClock,
      wallNow: () => {
        // After the first look: as a gateway that is started then.
        if (++looks === 2) enter();
        return systemClock.wallNow();
      },
    };
    await expect(move(from, schema, { world, clock })).rejects.toThrow(`gw (pid ${process.pid}) uses ${from}`);
  });

  it('[N-1] [I-5] brings an end that a run could only leave beside the file: its message is not processed again', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const end = { session: 's', fence: 1, number: 2, end: 'done', at: now, runtime: 'gone' };
    writeFileSync(`${from}-left-gone`, JSON.stringify([end]));
    expect(await move(from, schema)).toMatchObject({ messages: 1 });
    expect(await schema.ask('SELECT state FROM uw.message WHERE number = 2')).toEqual([{ state: 'done' }]);
  });

  it('[N-1] keeps each of two files that had one name', async () => {
    const schema = await newSchema();
    const from = await fileOfKilledGateway();
    await move(from, schema);
    copyFileSync(await fileOfKilledGateway('other'), from);
    expect(await move(from, schema)).toMatchObject({ kept: `${from}.moved-2` });
    expect([existsSync(`${from}.moved`), existsSync(`${from}.moved-2`)]).toEqual([true, true]);
  });

  it('[N-1] refuses a file of somebody else, a missing one and a wrong URL, and names a server that is not there without its password', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const foreign = `${temporaryDirectory()}/openclaw.sqlite`;
    openDatabase(foreign).exec('CREATE TABLE theirs (id INTEGER)');
    await expect(move(foreign, schema)).rejects.toThrow('is not a database of unwedge alone');
    await expect(move('/nowhere/gw.sqlite', schema)).rejects.toThrow('There is no database at /nowhere/gw.sqlite');
    const there = (url: string) => ({ ...schema, url });
    await expect(move(from, there('postgres://h/db?leaseMs=x'))).rejects.toThrow('leaseMs');
    const message = await move(from, there('postgres://me:hush@127.0.0.1:9/db')).catch(String);
    expect(message).toContain('postgres://127.0.0.1:9/db: connect ECONNREFUSED');
    expect(message).not.toContain('hush');
    expect(existsSync(from)).toBe(true);
  });

  it('[N-1] shows in a dry run what it would do, and does nothing', async () => {
    const [from, schema] = [await fileOfKilledGateway(), await newSchema()];
    const { rows, kept } = await move(from, schema, { dryRun: true });
    expect(rows).toContainEqual({ what: 'messages', rows: 3 });
    expect([kept, existsSync(from)]).toEqual([undefined, true]);
    expect(await schema.ask(`SELECT nspname FROM pg_namespace WHERE nspname = 'uw_schema'`)).toEqual([]);
  });
});
