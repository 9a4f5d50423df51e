import { describe, expect, it } from 'vitest';
import { openPgReader } from '../../../postgres/reader/openPgReader.ts';
import { PgReads } from '../../../postgres/reader/pgReads.ts';
import { importPg } from '../../../postgres/pgDriver.ts';
import { readTarget } from '../../../postgres/pgTarget.ts';
import { StoreUnavailableError } from '../../../src/store/storeOption.ts';
import { hasPostgres, postgresServer } from '../../support/postgresServer.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { failed } from '../../store/startStore.ts';

const secret = 'hunter2secret';

/** What is said where a database cannot be read, all of it. */
async function saidOf(url: string, load?: Parameters<typeof openPgReader>[1]): Promise<string> {
  const error: unknown = await openPgReader(url, load).then(
    () => 'it can be read',
    (thrown: unknown) => thrown,
  );
  const text = error instanceof Error ? `${error.message}\n${String(error.cause)}` : String(error);
  expect(text).not.toContain(secret);
  return text.split('\n')[0] ?? '';
}

describe('a PostgreSQL database that cannot be read', () => {
  it('[N-1] [L-6] says that the package is missing, and how to get it', async () => {
    const missing = () => {
      throw new StoreUnavailableError('postgres://db/agents: the package `pg` is not installed', 'npm install pg');
    };
    expect(await saidOf(`postgres://robin:${secret}@db/agents`, missing)).toBe(
      'Cannot read postgres://db/agents: the package `pg` is not installed. Fix: npm install pg',
    );
  });

  it('[N-1] names a wrong part of the URL, and nothing else of it', async () => {
    expect(await saidOf(`postgres://robin:${secret}@db/agents?schema=A-B`)).toBe(
      'Expected `schema` of the `store` to be a lower-case name, got "A-B"',
    );
  });

  it.skipIf(!hasPostgres)('[N-1] [O-8] says which one and what to do, and never with what one signs in', async () => {
    const { port } = await postgresServer();
    expect(await saidOf(`postgres://robin:${secret}@127.0.0.1:1/agents`)).toBe(
      'Cannot read postgres://127.0.0.1:1/agents: connect ECONNREFUSED 127.0.0.1:1. Fix: see that the server runs and can be reached: `store` of the gateway',
    );
    expect(await saidOf(`postgres://postgres:${secret}@127.0.0.1:${port}/nowhere`)).toBe(
      `Cannot read postgres://127.0.0.1:${port}/nowhere: database "nowhere" does not exist. Fix: create the database: CREATE DATABASE`,
    );
  });

  it.skipIf(!hasPostgres)('[N-1] says that no gateway has used it yet, and makes nothing there', async () => {
    const { url, ask, schema } = await newSchema();
    const { port } = await postgresServer();
    expect(await saidOf(url)).toMatch(
      new RegExp(
        `^postgres://127.0.0.1:${port}/test_\\d+\\?schema=${schema} has no tables of unwedge in schema ${schema}: no gateway has used it yet\\.`,
      ),
    );
    expect(await ask('SELECT nspname FROM pg_namespace WHERE nspname = $1', [schema])).toEqual([]);
    await ask(`CREATE SCHEMA ${schema}`);
    expect(await saidOf(url)).toContain('no gateway has used it yet');
  });

  it.skipIf(!hasPostgres)('[N-1] [O-9] says that its schema is of another version, and how to mend that', async () => {
    const { url, open, ask } = await newSchema();
    await open();
    await ask('UPDATE uw.schema_version SET version = 99');
    expect(await saidOf(url)).toMatch(
      /the schema has version 99, this version of unwedge knows \d+\. Fix: update unwedge/,
    );
    await ask('UPDATE uw.schema_version SET version = 0');
    expect(await saidOf(url)).toMatch(
      /the schema has version 0, this version of unwedge reads \d+\. Fix: start a gateway of this version on it/,
    );
  });

  it.skipIf(!hasPostgres)('[N-1] says which rights are missing', async () => {
    const { url, open, ask, schema } = await newSchema();
    await open();
    await ask(`DO $$ BEGIN CREATE ROLE stranger LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
    expect(await saidOf(url.replace('postgres@', `stranger:${secret}@`))).toMatch(
      new RegExp(
        `permission denied for schema ${schema}. Fix: grant the user USAGE on the schema and SELECT on its tables$`,
      ),
    );
  });
});

describe.skipIf(!hasPostgres)('a PostgreSQL database that is read', () => {
  it('[N-1] can be read by a role that may do nothing else', async () => {
    const { url, open, ask, schema } = await newSchema();
    const store = await open();
    store.record(failed(1));
    await store.flush();
    await ask(`DO $$ BEGIN CREATE ROLE watcher LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$`);
    await ask(`GRANT USAGE ON SCHEMA ${schema} TO watcher; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO watcher`);
    const reader = await openPgReader(url.replace('postgres@', 'watcher@'));
    expect((await reader.status(failed(1).at)).events).toBe(1);
    expect(await reader.lastEventId()).toBe(1);
  });

  it('[N-1] is never written to: each question is a transaction that cannot', async () => {
    const { url, open } = await newSchema();
    await open();
    const reads = new PgReads(await importPg(url), readTarget(url));
    await expect(reads.ask('DELETE FROM uw.event')).rejects.toThrow('in a read-only transaction');
    expect(await reads.ask('SELECT count(*)::int AS n FROM uw.event')).toEqual([{ n: 0 }]);
    await reads.close();
  });

  it('[N-1] is known from one that was made anew under its name: ids begin anew there', async () => {
    const { url, open, ask, schema } = await newSchema();
    const store = await open();
    const { identity } = await openPgReader(url);
    expect((await openPgReader(url)).identity).toBe(identity);
    await store.close();
    await ask(`DROP SCHEMA ${schema} CASCADE`);
    await open();
    expect((await openPgReader(url)).identity).not.toBe(identity);
  });
});
