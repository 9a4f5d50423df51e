import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../../reader/sqlite/reader.ts';
import { knownVersion, prepareSchema } from '../../../src/store/sqlite/schema.ts';
import { declared } from '../../../src/store/tables/declared.ts';
import { failed, hasSqlite, openDatabase, startStore, storedCalls, temporaryDirectory } from '../startStore.ts';

const gatewayEvents = `CREATE TABLE events (
  timestamp INTEGER NOT NULL, category TEXT NOT NULL, event_type TEXT NOT NULL, metadata JSON
)`;

/** A database somebody else made, with these statements. */
function foreignDatabase(...statements: string[]) {
  const path = join(temporaryDirectory(), 'observability.sqlite');
  const database = openDatabase(path);
  for (const statement of statements) database.exec(statement);
  return { path, database };
}

const pragmas = (path: string) => {
  const database = openDatabase(path);
  return ['journal_mode', 'user_version', 'application_id'].map(
    (name) => database.prepare(`PRAGMA ${name}`).get()?.[name],
  );
};

const schemaOf = (path: string) =>
  openDatabase(path).prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name').all();

describe.skipIf(!hasSqlite)('a database of our own', () => {
  it('[O-1] is in WAL mode, with a version', async () => {
    const { path } = await startStore();
    expect(pragmas(path).slice(0, 2)).toEqual(['wal', knownVersion]);
  });

  it('[I-6] has a new version when what is in it changes', async () => {
    const { path } = await startStore();
    const digest = createHash('sha256')
      .update(JSON.stringify(schemaOf(path)))
      .digest('hex')
      .slice(0, 8);
    expect(
      { knownVersion, digest },
      `The tables of a file have changed, and older files have the old ones. A new table says \`since\` in src/store/tables/declared.ts. A new column
       or index is added in \`migrate\` of src/store/sqlite/schema.ts, with the next \`knownVersion\`. Then write both here: ${knownVersion}, ${digest}`,
    ).toEqual({ knownVersion: 19, digest: '7d4b0c2f' });
  });

  it('[I-6] of the version before gets the tables that it has not', async () => {
    const { store, path } = await startStore();
    await store.close();
    const before = schemaOf(path);
    const database = openDatabase(path);
    for (const [, { file }] of declared) database.exec(`DROP TABLE ${file}`);
    database.exec(`PRAGMA user_version = ${knownVersion - 1}`);
    expect((await startStore({ path })).store.degraded).toBe(false);
    expect(schemaOf(path)).toEqual(before);
  });

  it('[O-1] is opened again as ours', async () => {
    const { store, path } = await startStore();
    store.record(failed(1));
    await store.close();
    const before = schemaOf(path);
    const later = await startStore({ path });
    later.store.record(failed(2));
    await later.store.flush();
    expect(schemaOf(path)).toEqual(before);
    expect(storedCalls(path)).toEqual(['call-1', 'call-2']);
  });

  it.each([
    ['NORMAL', 1],
    ['FULL', 2],
  ] as const)('[I-5] syncs as it is told: %s', (synchronous, level) => {
    const database = openDatabase(join(temporaryDirectory(), 'events.sqlite'));
    prepareSchema(database, synchronous);
    expect(database.prepare('PRAGMA synchronous').get()?.['synchronous']).toBe(level);
  });

  it.each([1, 4, 8, 12])(
    '[I-6] [U-11] of version %i, from before the first release, is refused unchanged',
    async (version) => {
      const { store, path } = await startStore();
      store.record(failed(1));
      await store.close();
      openDatabase(path).exec(`ALTER TABLE unwedge_runtimes DROP COLUMN calls; PRAGMA user_version = ${version}`);
      const before = schemaOf(path);
      const later = await startStore({ path });
      expect(later.store.degraded).toBe(true);
      expect(later.facts.of('store.degraded')[0]).toMatchObject({
        reason: expect.stringContaining(`the schema has version ${version}, of a build from before`) as string,
        fix: expect.stringContaining('move the file away') as string,
      });
      await later.store.close();
      expect(pragmas(path)[1]).toBe(version);
      expect(schemaOf(path)).toEqual(before);
      await expect(openSqliteReader(path)).rejects.toThrow('of a build from before the first release');
    },
  );

  it('[O-1] [R-6] of version 13 keeps its circuits, their pauses and causes', async () => {
    const { store, path } = await startStore();
    await store.close();
    const database = openDatabase(path);
    database.exec(`DROP TABLE unwedge_breakers;
      CREATE TABLE unwedge_breakers (
        name TEXT PRIMARY KEY, state TEXT NOT NULL, opened_at INTEGER NOT NULL, open_until INTEGER NOT NULL, last_open_ms INTEGER NOT NULL,
        openings INTEGER NOT NULL, generation INTEGER NOT NULL, lease_until INTEGER, lease_owner TEXT, failures INTEGER NOT NULL DEFAULT 0,
        cause TEXT, paused_at INTEGER, paused_until INTEGER
      ) STRICT;
      INSERT INTO unwedge_breakers VALUES ('api', 'open', 1, 2, 3, 4, 5, 6, 'other', 7, NULL, 8, 9);
      PRAGMA user_version = 13`);
    const later = await startStore({ path });
    expect(later.store.degraded).toBe(false);
    expect(later.store.breakers.load('api')).toMatchObject({
      ...{
        state: 'open',
        openedAt: 1,
        openUntil: 2,
        openings: 4,
        generation: 5,
        failures: 7,
        pausedAt: 8,
        pausedUntil: 9,
      },
    });
    expect(pragmas(path)[1]).toBe(knownVersion);
    expect(
      openDatabase(path).prepare("SELECT name FROM sqlite_schema WHERE name = 'unwedge_breakers_old'").all(),
    ).toEqual([]);
  });

  it('of a newer version is left alone', async () => {
    const { store, path } = await startStore();
    await store.close();
    openDatabase(path).exec('PRAGMA user_version = 99');
    const later = await startStore({ path });
    expect(later.store.degraded).toBe(true);
    expect(later.facts.of('store.degraded')[0]).toMatchObject({
      reason: expect.stringContaining('version 99') as string,
      fix: expect.stringContaining('update unwedge') as string,
    });
  });
});

describe.skipIf(!hasSqlite)('a database that is not ours', () => {
  it('[O-1] gets our rows in its events, which has no id', async () => {
    const { path, database } = foreignDatabase(
      gatewayEvents,
      `INSERT INTO events VALUES (1, 'gateway', 'start', '{}')`,
    );
    const { store } = await startStore({ path });
    store.record(failed(1));
    await store.flush();
    expect(database.prepare('SELECT category, event_type FROM events').all()).toEqual([
      { category: 'gateway', event_type: 'start' },
      { category: 'integration', event_type: 'failure' },
    ]);
    expect((await store.read({ limit: 10 })).map(({ id, type }) => [id, type])).toEqual([
      [1, 'start'],
      [2, 'failure'],
    ]);
  });

  it.each(['id INTEGER PRIMARY KEY NOT NULL,', 'host TEXT NOT NULL DEFAULT "here",', 'note TEXT,'])(
    '[O-1] gets our rows in its events where other columns fill themselves: %s',
    async (column) => {
      const { path } = foreignDatabase(gatewayEvents.replace('(', `(${column}`));
      const { store } = await startStore({ path });
      store.record(failed(1));
      expect(await store.flush()).toBe(true);
      expect(storedCalls(path)).toEqual(['call-1']);
    },
  );

  it('[O-1] gets times as integers, also in columns without a type', async () => {
    const { path, database } = foreignDatabase('CREATE TABLE events (timestamp, category, event_type, metadata)');
    const { store } = await startStore({ path });
    store.record(failed(1.5));
    await store.flush();
    expect(database.prepare('SELECT timestamp, typeof(timestamp) AS type FROM events').get()).toEqual({
      timestamp: Date.UTC(2026, 0, 1) + 1,
      type: 'integer',
    });
  });

  it('[O-1] is otherwise untouched', async () => {
    const { path } = foreignDatabase(gatewayEvents, 'CREATE TABLE sessions (id TEXT)', 'PRAGMA user_version = 7');
    const before = { pragmas: pragmas(path), schema: schemaOf(path) };
    const { store } = await startStore({ path });
    store.record(failed(1));
    store.breakers.save('kb', {
      state: 'closed',
      openedAt: 0,
      openUntil: 0,
      lastOpenMs: 0,
      openings: 0,
      failures: 0,
      generation: 1,
    });
    await store.close();
    expect(pragmas(path)).toEqual(before.pragmas);
    const names = schemaOf(path).map(({ name }) => String(name));
    expect(schemaOf(path).filter(({ name }) => !String(name).startsWith('unwedge_'))).toEqual(before.schema);
    expect(names.filter((name) => name.startsWith('unwedge_'))).toEqual([
      'unwedge_alerts',
      'unwedge_alerts_open',
      'unwedge_breakers',
      'unwedge_calls',
      'unwedge_calls_by_turn',
      'unwedge_calls_once',
      'unwedge_calls_pending',
      'unwedge_calls_pending_by_session',
      'unwedge_children',
      'unwedge_definitions',
      'unwedge_flights',
      'unwedge_flights_by_integration',
      'unwedge_messages',
      'unwedge_messages_unprocessed',
      'unwedge_meta',
      'unwedge_policies',
      'unwedge_questions',
      'unwedge_questions_open',
      'unwedge_questions_place',
      'unwedge_rates',
      'unwedge_runtimes',
      'unwedge_secrets',
      'unwedge_sessions',
      'unwedge_spinning',
      'unwedge_spinning_by_time',
      'unwedge_statistics',
    ]);
  });

  it('[O-1] is synced in full where it is not in WAL mode', () => {
    const { database } = foreignDatabase(gatewayEvents);
    prepareSchema(database, 'NORMAL');
    expect(database.prepare('PRAGMA synchronous').get()?.['synchronous']).toBe(2);
  });

  it('[O-1] keeps the version of our tables in unwedge_meta', async () => {
    const { path, database } = foreignDatabase(gatewayEvents);
    await startStore({ path });
    expect(database.prepare('SELECT * FROM unwedge_meta').all()).toEqual([
      { key: 'version', value: String(knownVersion) },
    ]);
    const again = await startStore({ path });
    expect(again.store.degraded).toBe(false);
  });

  it.each([
    ['no events', 'CREATE TABLE sessions (id TEXT)'],
    ['events of another kind', 'CREATE TABLE events (id INTEGER PRIMARY KEY, payload TEXT)'],
    ['events that demand more', gatewayEvents.replace('metadata JSON', 'metadata JSON, host TEXT NOT NULL')],
    ['events with a key of their own', gatewayEvents.replace('(', '(uuid TEXT NOT NULL PRIMARY KEY,')],
  ])('[O-1] gets a table unwedge_events when it has %s', async (_, statement) => {
    const { path } = foreignDatabase(statement);
    const { store } = await startStore({ path });
    store.record(failed(1));
    expect(await store.flush()).toBe(true);
    expect(storedCalls(path, 'unwedge_events')).toEqual(['call-1']);
  });

  it('[O-2] loses a row that it refuses, says so, and keeps the others', async () => {
    const { path } = foreignDatabase(
      gatewayEvents.replace('metadata JSON', `metadata JSON CHECK (metadata NOT LIKE '%call-1%')`),
    );
    const { store, lines } = await startStore({ path });
    for (const call of [0, 1, 2]) store.record(failed(call));
    await store.flush();
    expect(storedCalls(path)).toEqual(['call-0', 'call-2']);
    expect(lines.filter((line) => line.startsWith('error: The store refuses a row'))).toHaveLength(1);
  });
});

describe.skipIf(!hasSqlite)('two processes', () => {
  it('[O-1] may both start on a file that is not there yet', async () => {
    const path = join(temporaryDirectory(), 'events.sqlite');
    const [first, second] = await Promise.all([startStore({ path }), startStore({ path })]);
    expect([first.store.degraded, second.store.degraded]).toEqual([false, false]);
  });
});
