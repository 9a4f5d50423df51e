import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { openPgReader } from '../../../postgres/reader/openPgReader.ts';
import { openStore } from '../../../src/store/openStore.ts';
import type { PostgresStore } from '../../../postgres/postgresStore.ts';
import { diagnosePg } from '../../../postgres/pgTrouble.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { connectTo, hasPostgres, postgresServer, query } from '../../support/postgresServer.ts';
import { failed } from '../startStore.ts';
import { newSchema } from '../startPostgres.ts';
import { asked, claimed, message } from '../../postgres/claimedSession.ts';

const degraded = (facts: RecordedFacts) => facts.all.filter(({ type }) => type === 'store.degraded');

describe.skipIf(!hasPostgres)('a store whose server is not what it was', () => {
  /** In a database of its own: its settings are changed. */
  async function start() {
    const path = await (await postgresServer()).database();
    const facts = new RecordedFacts();
    const store = (await openStore({ path, required: true, clock: systemClock, facts, env: {} })) as PostgresStore;
    onTestFinished(() => store.close());
    const name = path.slice(path.lastIndexOf('/') + 1);
    const others = path.replace(`/${name}`, '/postgres');
    const ask = (text: string) => query(others, text);
    const endAll = () => ask(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    return { path, store, facts, name, ask, endAll };
  }

  it('[N-6] writes again when the server does that only read, whatever connections were made meanwhile', async () => {
    const { store, facts, name, ask, endAll } = await start();
    const ledger = await claimed(store, 'a');
    expect(await ledger.post(message(1))).toBe('durable');
    await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await endAll();
    void ledger.post(message(2));
    await expect
      .poll(() => degraded(facts))
      .toMatchObject([
        { reason: expect.stringContaining('only reads') as string, fix: expect.stringContaining('primary') as string },
      ]);
    // Whoever is connected goes on reading alone.
    await ask(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
    await expect.poll(() => store.degraded).toBe(false);
    await expect.poll(() => asked(store, 'a')).toMatchObject({ held: false });
  });

  it('[N-1] [N-6] makes its tables anew where somebody has dropped them', async () => {
    const { path, store } = await start();
    await store.flush();
    await query(path, 'DROP SCHEMA unwedge CASCADE');
    store.record(failed(1));
    await expect.poll(async () => (await store.read({ limit: 1 })).length).toBe(1);
  });

  it('[N-7] is not waited for by a reader while somebody holds a lock on its tables', async () => {
    const { url, open, ask } = await newSchema();
    await (await open()).flush();
    const holder = await connectTo(url.slice(0, url.indexOf('?')));
    onTestFinished(() => holder.end());
    const [{ schema } = { schema: '' }] = await ask(`SELECT (parse_ident('uw.event'))[1] AS schema`);
    await holder.query(`BEGIN; LOCK TABLE ${String(schema)}.event IN ACCESS EXCLUSIVE MODE`);
    const reader = await openPgReader(url);
    await expect(reader.events({ limit: 1 })).rejects.toThrow(
      /lock timeout\. Fix: see in pg_stat_activity who holds a lock/,
    );
  });

  it('[N-6] is told what to do about, by what the server says', () => {
    const fix = (code: string) => diagnosePg(Object.assign(new Error('no'), { code }), 'db').fix;
    expect(fix('25006')).toContain('connect to the primary');
    expect(fix('26000')).toContain('prepare=false');
    expect(fix('42P05')).toContain('prepare=false');
    expect(fix('57014')).toContain('pg_stat_activity');
    expect(fix('53300')).toContain('max_connections');
    expect(fix('28P01')).toContain('password');
    expect(fix('ECONNREFUSED')).toContain('can be reached');
  });
});
