import { describe, expect, it, onTestFinished } from 'vitest';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { openStore } from '../../src/store/openStore.ts';
import { StoreUnavailableError } from '../../src/store/storeOption.ts';
import { RecordedFacts } from '../support/facts.ts';
import { hasPostgres, postgresServer } from '../support/postgresServer.ts';
import { failed } from '../store/startStore.ts';
import { newSchema } from '../store/startPostgres.ts';
import { claimed, message, now } from './claimedSession.ts';

describe.skipIf(!hasPostgres)('a store in a PostgreSQL database', () => {
  it('[N-1] [O-8] shows its password nowhere: not in its path, not in what it keeps, not in what it logs', async () => {
    const { url } = await newSchema();
    const secret = 'hunter2secret';
    const path = url.replace('postgres@', `postgres:${secret}@`);
    const facts = new RecordedFacts();
    const lines: string[] = [];
    const line = (text: string) => void lines.push(text);
    const logger = { debug: line, info: line, warn: line, error: line };
    const secrets = new KnownSecrets();
    const store = await openStore({ path, required: true, clock: systemClock, facts, logger, env: {}, secrets });
    onTestFinished(() => store.close());
    // The address is known as a secret to whoever tells facts.
    const redact = createFactRedactor(secrets);
    store.record(redact({ ...failed(1), failure: { ...failed(1).failure, message: `cannot reach ${path}` } }));
    await store.flush();
    expect(JSON.stringify(await store.read({ limit: 1 }))).toContain('cannot reach');
    const shown = [store.path, await store.read({ limit: 1 }), lines, facts.all];
    expect(JSON.stringify(shown)).not.toContain(secret);
  });

  it('[N-1] [O-8] that cannot be had says why, how to mend it, and no password', async () => {
    const { port } = await postgresServer();
    const open = (path: string) =>
      openStore({ path, required: true, clock: systemClock, facts: new RecordedFacts(), env: {} });
    const missing = open(`postgres://postgres:hunter2secret@127.0.0.1:${port}/nowhere`);
    await expect(missing).rejects.toThrow(StoreUnavailableError);
    await expect(missing).rejects.toThrow(
      `postgres://127.0.0.1:${port}/nowhere: database "nowhere" does not exist. Fix: create the database`,
    );
    await expect(missing).rejects.not.toThrow('hunter2secret');
    await expect(open('postgres://robin:hunter2secret@127.0.0.1:1/agents')).rejects.toThrow(
      'postgres://127.0.0.1:1/agents: connect ECONNREFUSED 127.0.0.1:1. Fix: see that the server runs',
    );
    await expect(open('postgres://127.0.0.1:1/agents')).rejects.toThrow(
      "Or start before it can be had: `store: { path: 'postgres://…', required: false }`; sessions refuse messages",
    );
  });

  it('[N-1] that is not required is degraded until it is there', async () => {
    const { url } = await newSchema();
    const { port } = await postgresServer();
    const facts = new RecordedFacts();
    const path = url.replace(`:${port}/`, ':1/');
    const store = await openStore({ path, clock: systemClock, facts, env: {} });
    onTestFinished(() => store.close());
    store.record(failed(1));
    await expect.poll(() => store.degraded).toBe(true);
    expect(facts.all).toMatchObject([{ type: 'store.degraded' }]);
    expect(await store.read({ limit: 1 })).toEqual([]);
  });

  it('[N-1] [I-5] has all that was acknowledged after its server crashed, once', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const ledger = await claimed(store, 'a');
    const posted = [];
    for (let number = 1; number <= 200; number++) posted.push(ledger.post(message(number)));
    await Promise.all(posted.slice(0, 50));
    const crash = (await postgresServer()).crash();
    for (let number = 201; number <= 400; number++) posted.push(ledger.post(message(number)));
    await crash;
    const kept = await Promise.all(posted);
    expect(await ledger.take(1, 1, 1, now)).toBe('durable');
    // What could not be written in time is written late, and was not promised.
    await expect.poll(() => store.degraded).toBe(false);
    await store.flush();
    expect(new Set(kept).has('fenced')).toBe(false);
    expect(await ask('SELECT count(*)::int AS n, max(deliveries) AS most FROM uw.message')).toEqual([
      { n: 400, most: 1 },
    ]);
  });
});
