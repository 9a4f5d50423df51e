import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventQuery } from '../../src/store/events.ts';
import { openReader } from '../../reader/openReader.ts';
import { failed, hasSqlite, openDatabase, startStore, temporaryDirectory, told } from '../store/startStore.ts';

const now = Date.UTC(2026, 0, 1);

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
      moreSessions: 0,
      alerts: { open: [], unwatched: [] },
      sessions: [],
    });
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
