import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventQuery } from '../../src/store/events.ts';
import { openReader } from '../../src/store/openReader.ts';
import { failed, hasSqlite, openDatabase, startStore, temporaryDirectory, told } from './startStore.ts';

const now = Date.UTC(2026, 0, 1);
const minute = 60_000;

async function read(path: string) {
  const reader = await openReader(path);
  onTestFinished(() => reader.close());
  return reader;
}

/** Failures 0-4 of `kb`, 5-9 of `search`, a ms apart, then an opened breaker. */
async function startWithEvents() {
  const { store, path } = await startStore();
  for (let call = 0; call < 10; call++) store.record(failed(call, { integration: call < 5 ? 'kb' : 'search' }));
  store.record(told({ type: 'breaker.opened', integration: 'kb', openForMs: 60_000, kind: 'timeout' }));
  await store.flush();
  const reader = await read(path);
  return {
    reader,
    ids: async (query: Partial<EventQuery>) => (await reader.events({ limit: 100, ...query })).map(({ id }) => id),
  };
}

describe.skipIf(!hasSqlite)('the events of a database', () => {
  it('are read oldest first, the newest of them', async () => {
    const { ids } = await startWithEvents();
    expect(await ids({ limit: 3 })).toEqual([9, 10, 11]);
  });

  it('are read on from an id', async () => {
    const { ids } = await startWithEvents();
    expect(await ids({ limit: 3, after: 2 })).toEqual([3, 4, 5]);
    expect(await ids({ after: 11 })).toEqual([]);
  });

  it('are narrowed by integration, category, time and failure', async () => {
    const { ids } = await startWithEvents();
    expect(await ids({ integration: 'search' })).toEqual([6, 7, 8, 9, 10]);
    expect(await ids({ category: 'breaker' })).toEqual([11]);
    expect(await ids({ since: now + 8 })).toEqual([9, 10]);
    expect(await ids({ failed: true, integration: 'kb' })).toEqual([1, 2, 3, 4, 5]);
  });

  it('[O-1] are narrowed to what one process has recorded, by the name that is shown', async () => {
    const { store, path } = await startStore({ runtimePid: 7 });
    const { store: other } = await startStore({ path, runtimePid: 8 });
    store.record(failed(0, { integration: 'kb' }));
    await store.flush();
    other.record(failed(1, { integration: 'kb' }));
    other.record(failed(2, { integration: 'kb@7' }));
    await other.flush();
    const reader = await read(path);
    const ids = async (integration: string) => (await reader.events({ limit: 100, integration })).map(({ id }) => id);
    expect([await ids('kb'), await ids('kb@8'), await ids('kb@7'), await ids('kb@9')]).toEqual([
      [1, 2],
      [2],
      [1, 3],
      [],
    ]);
  });

  it('are looked for among the newest alone where that is asked', async () => {
    const { ids } = await startWithEvents();
    expect(await ids({ integration: 'search', among: 4 })).toEqual([8, 9, 10]);
    expect(await ids({ integration: 'kb', failed: true, among: 10 })).toEqual([2, 3, 4, 5]);
    await expect(ids({ among: 0 })).rejects.toThrow('Expected `among` to be a positive integer, got 0');
  });

  it('carry their time and metadata', async () => {
    const { reader } = await startWithEvents();
    expect((await reader.events({ limit: 1, after: 2 }))[0]).toMatchObject({
      id: 3,
      at: now + 2,
      category: 'integration',
      type: 'failure',
      metadata: { integration: 'kb', call: 'call-2' },
    });
  });

  it.each([
    ['limit', 0],
    ['limit', 1.5],
    ['after', -1],
    ['since', Number.NaN],
  ])('name a wrong query: %s %s', async (name, value) => {
    const { ids } = await startWithEvents();
    await expect(ids({ [name]: value })).rejects.toThrow(`Expected \`${name}\``);
  });

  it('[O-1] are read from a foreign database, also where its metadata is no JSON', async () => {
    const path = join(temporaryDirectory(), 'observability.sqlite');
    openDatabase(path).exec(`CREATE TABLE events (timestamp, category, event_type, metadata);
      INSERT INTO events VALUES (${now}, 'gateway', 'start', 'not json'), (${now}, 'gateway', 'stop', NULL)`);
    const reader = await read(path);
    expect((await reader.events({ limit: 10 })).map(({ metadata }) => metadata)).toEqual([
      { text: 'not json' },
      { text: 'null' },
    ]);
    expect(await reader.events({ limit: 10, integration: 'kb' })).toEqual([]);
    expect(await reader.status(now)).toEqual({
      events: 2,
      integrations: [],
      alerts: { open: [], unwatched: [] },
      sessions: [],
    });
  });
});

describe.skipIf(!hasSqlite)('the status of a database', () => {
  it('counts the failures of each integration within 10 min and a day', async () => {
    const { store, path } = await startStore();
    for (const ago of [25 * 60, 24 * 60, 11, 10, 1]) {
      const { failure } = failed(0);
      store.record(failed(0, { at: now - ago * minute, failure: { ...failure, message: `${ago} min ago` } }));
    }
    await store.flush();
    expect((await (await read(path)).status(now)).integrations).toEqual([
      {
        integration: 'kb',
        failures10m: 1,
        failures24h: 3,
        crashes10m: 0,
        crashes24h: 0,
        lastError: { at: now - minute, kind: 'timeout', error: '1 min ago' },
        circuit: 'closed',
        breaker: undefined,
        runtimes: [],
      },
    ]);
  });

  it('[O-1] counts in all what each process has recorded, and by process', async () => {
    const { store, path, clock } = await startStore({ runtimePid: 7 });
    const { store: other } = await startStore({ path, clock, runtimePid: 8 });
    store.record(failed(0, { at: now - 2 * minute }));
    await store.flush();
    for (const ago of [1, 11]) other.record(failed(0, { at: now - ago * minute }));
    other.record({ type: 'integration.crashed', integration: 'kb', message: 'gone', at: now - minute / 2 });
    await other.flush();
    const gone = { at: now - minute / 2, kind: 'crash', error: 'gone' };
    expect((await (await read(path)).status(now)).integrations).toMatchObject([
      {
        ...{ failures10m: 2, failures24h: 3, crashes10m: 1, crashes24h: 1, lastError: gone },
        runtimes: [
          { pid: 7, failures10m: 1, failures24h: 1, crashes10m: 0, lastError: { kind: 'timeout' } },
          { pid: 8, failures10m: 1, failures24h: 2, crashes10m: 1, lastError: gone },
        ],
      },
    ]);
  });

  it('[M-8] shows the kept breakers, also of integrations that never failed', async () => {
    const { store, path } = await startStore();
    const breaker = {
      state: 'open',
      openedAt: now,
      openUntil: now + 1,
      lastOpenMs: 1,
      openings: 1,
      failures: 5,
      generation: 1,
    } as const;
    store.breakers.save('search', breaker);
    store.breakers.save('kb', breaker);
    store.record(failed(0));
    await store.flush();
    const { integrations } = await (await read(path)).status(now);
    expect(integrations.map((row) => [row.integration, row.failures24h, row.breaker])).toEqual([
      ['kb', 1, breaker],
      ['search', 0, breaker],
    ]);
  });

  it('shows when each session was seen last, newest first', async () => {
    const { store, path } = await startStore();
    store.record(failed(1, { session: 'a' }));
    store.record(failed(2, { session: 'b' }));
    store.record({ type: 'hook.failed', at: now + 3, hook: 'h', event: 'e', action: 'a', session: 'a', error: 'no' });
    await store.flush();
    expect((await (await read(path)).status(now + 4)).sessions).toEqual([
      { session: 'a', lastSeenAt: now + 3, failedTurns24h: 0 },
      { session: 'b', lastSeenAt: now + 2, failedTurns24h: 0 },
    ]);
  });
});

describe.skipIf(!hasSqlite)('the turns of a session', () => {
  it('[O-13] are read newest first, each with its calls, how they ended and when, without a word of what was said', async () => {
    const { path } = await startStore();
    const database = openDatabase(path);
    const message = database.prepare(
      `INSERT INTO unwedge_messages (session, number, body, state, deliveries, posted_at, turn, taken_at, ended_at, error)
       VALUES ('s', ?, ?, ?, 1, CAST(? AS INTEGER), ?, CAST(? AS INTEGER), CAST(? AS INTEGER), ?)`,
    );
    const text = 'secret words';
    message.run(1, JSON.stringify({ kind: 'user', text }), 'failed', now, 1, now + 5, now + 40, 'boom');
    message.run(2, JSON.stringify({ kind: 'heartbeat' }), 'taken', now + 50, 2, now + 60, null, null);
    message.run(3, JSON.stringify({ kind: 'user', text }), 'waiting', now + 55, null, null, null, null);
    const call = database.prepare(
      `INSERT INTO unwedge_calls (id, session, turn, integration, tool, input, runtime, started_at, deadline_at, seq, state, result, settled_at)
       VALUES (?, 's', 1, 'kb', 'find', '"secret words"', 'run', CAST(? AS INTEGER), 0, ?, ?, ?, CAST(? AS INTEGER))`,
    );
    const found = JSON.stringify({ status: 'ok', value: text, retries: 2 });
    const refused = JSON.stringify({ status: 'error', error: text, retries: 0, synthetic: true, attempts: 0 });
    call.run('s-1-1', now + 10, 2, 'settled', found, now + 20);
    call.run('s-1-2', now + 11, 3, 'settled', refused, now + 30);
    call.run('s-1-3', now + 12, 4, 'pending', null, null);
    const reader = await read(path);
    const turns = await reader.turns('s', 10);
    const of = { integration: 'kb', tool: 'find' };
    expect(turns).toEqual([
      {
        ...{ turn: 2, message: 's-m2', kind: 'heartbeat', state: 'taken', deliveries: 1, postedAt: now + 50 },
        ...{ takenAt: now + 60, calls: [] },
      },
      {
        ...{ turn: 1, message: 's-m1', kind: 'user', state: 'failed', deliveries: 1, postedAt: now },
        ...{ takenAt: now + 5, endedAt: now + 40, error: 'boom' },
        calls: [
          { call: 's-1-1', ...of, startedAt: now + 10, settledAt: now + 20, ok: true, attempts: 3 },
          { call: 's-1-2', ...of, startedAt: now + 11, settledAt: now + 30, ok: false, synthetic: true, attempts: 0 },
          { call: 's-1-3', ...of, startedAt: now + 12 },
        ],
      },
    ]);
    expect(JSON.stringify(turns)).not.toContain('secret');
    expect((await reader.turns('s', 1)).map(({ turn }) => turn)).toEqual([2]);
    expect(await reader.turns('nobody', 10)).toEqual([]);
  });
});

describe('a reader', () => {
  it('names the path when there is no database, and makes none', async () => {
    const path = join(temporaryDirectory(), 'missing.sqlite');
    await expect(openReader(path)).rejects.toThrow(`No database at ${path}`);
    expect(existsSync(path)).toBe(false);
  });

  it('names the fix when there is no driver', async () => {
    const path = join(temporaryDirectory(), 'a.sqlite');
    writeFileSync(path, '');
    await expect(openReader(path, [])).rejects.toThrow('npm rebuild better-sqlite3');
  });

  it('[L-6] does not say that something makes a database where no driver works', async () => {
    const path = join(temporaryDirectory(), 'missing.sqlite');
    const error = await openReader(path, []).catch((thrown: unknown) => String(thrown));
    expect(error).toMatch(/No database at \S+, and nothing can make one: .* Fix: run `npm rebuild better-sqlite3`/);
    expect(error).not.toContain('makes one');
  });

  it('cannot read the memory of another process', async () => {
    await expect(openReader(':memory:')).rejects.toThrow('its own process only');
    await expect(openReader('postgres://robin:s3cr3t@db/agents')).rejects.toThrow(
      /^postgres:\/\/db\/agents cannot be read from the command line yet: ask the database$/,
    );
  });

  it.skipIf(!hasSqlite)('names a file that is no database of events', async () => {
    const directory = temporaryDirectory();
    const [text, other] = [join(directory, 'text'), join(directory, 'other.sqlite')];
    writeFileSync(text, 'words '.repeat(1_000));
    openDatabase(other).exec('CREATE TABLE t (a)');
    await expect(openReader(text)).rejects.toThrow(`Cannot read ${text}: file is not a database`);
    await expect(openReader(other)).rejects.toThrow(`Cannot read ${other}: it holds no events of unwedge`);
  });

  it.skipIf(!hasSqlite)('changes nothing and leaves nothing behind', async () => {
    const directory = temporaryDirectory();
    const { store, path } = await startStore({ path: join(directory, 'a.sqlite') });
    store.record(failed(1));
    await store.close();
    const reader = await openReader(path);
    expect(await reader.events({ limit: 10 })).toHaveLength(1);
    reader.close();
    expect(readdirSync(directory)).toEqual(['a.sqlite']);
  });
});
