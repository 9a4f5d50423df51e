import { describe, expect, it } from 'vitest';
import { RecordedFacts } from '../../support/facts.ts';
import { hasPostgres, postgresServer } from '../../support/postgresServer.ts';
import { type Cut, startPostgresProxy } from '../../support/postgresProxy.ts';
import { failed } from '../startStore.ts';
import { newSchema } from '../startPostgres.ts';
import { claimed, message, now } from './claimedSession.ts';

const alert = {
  id: 'one',
  integration: 'kb',
  because: 'failures',
  kind: 'timeout',
  message: 'no answer',
  failures: 5,
  crashes: 0,
  raisedAt: now,
  lastFailureAt: now,
} as const;

describe.skipIf(!hasPostgres)('a commit', () => {
  async function startBehindProxy() {
    const proxy = await startPostgresProxy((await postgresServer()).port);
    const schema = await newSchema();
    const facts = new RecordedFacts();
    const store = await schema.open({ port: proxy.port, facts });
    return { proxy, store, facts, ask: schema.ask };
  }

  it.each<Cut>(['before_commit', 'after_commit'])(
    '[N-1] [I-5] whose connection is lost %s is neither lost nor made twice',
    async (when) => {
      const { proxy, store, facts, ask } = await startBehindProxy();
      const ledger = await claimed(store, 'a');
      expect(await ledger.post(message(1))).toBe('durable');
      proxy.cut(when);
      store.record(failed(1));
      store.breakers.countFailure('kb', 0);
      expect(await ledger.take(1, 1, 1, now)).toBe('durable');
      proxy.cut(when);
      expect(await store.alerts.raise(alert)).toEqual(alert);
      proxy.cut(when);
      expect(await store.alerts.extend('kb', 'failures', now)).toBe(true);
      expect(await store.flush()).toBe(true);
      expect(proxy.cuts).toBe(3);
      expect(await ask('SELECT deliveries FROM uw.message')).toEqual([{ deliveries: 1 }]);
      expect(await ask('SELECT type FROM uw.event')).toEqual([{ type: 'failure' }]);
      expect(await ask('SELECT failures FROM uw.breaker')).toEqual([{ failures: 1 }]);
      expect(await ask('SELECT failures FROM uw.alert')).toEqual([{ failures: 6 }]);
      // A moment without a connection is no outage.
      expect(facts.all).toEqual([]);
    },
  );

  it('[G-14] counts one delivery, whose handler may end the process', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const ledgers = await Promise.all(['s', 't', 'u'].map((session) => claimed(store, 'a', session)));
    await Promise.all(ledgers.map((ledger) => ledger.post(message(1))));
    expect(await ask('SELECT count(DISTINCT xmin::text)::int AS commits FROM uw.message')).toEqual([{ commits: 1 }]);
    await Promise.all(ledgers.map((ledger) => ledger.take(1, 1, 1, now)));
    expect(await ask('SELECT count(DISTINCT xmin::text)::int AS commits FROM uw.message')).toEqual([{ commits: 3 }]);
  });

  it('[N-1] leaves a row out that the database refuses, and makes the others', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const ledger = await claimed(store, 'a');
    await ask('ALTER TABLE uw.message ADD CHECK (number <> 2)');
    const posted = await Promise.all([1, 2, 3].map((number) => ledger.post(message(number))));
    expect(posted).toEqual(['durable', 'volatile', 'durable']);
    expect(await ask('SELECT number FROM uw.message ORDER BY 1')).toEqual([{ number: '1' }, { number: '3' }]);
  });

  it('[N-1] keeps what no text of PostgreSQL can hold', async () => {
    const { open } = await newSchema();
    const store = await open();
    const ledger = await claimed(store, 'a');
    expect(await ledger.post({ ...message(1), message: { kind: 'user', text: 'a\0b' } })).toBe('durable');
    expect(await ledger.finish(1, 'failed', now, 'at \0')).toBe('durable');
    const call = {
      call: 'c\0',
      turn: 1,
      integration: 'kb',
      tool: 't',
      input: '\0',
      effect: undefined,
      seq: 1,
      at: now,
    };
    expect(await ledger.open({ ...call, deadlineAt: Number.POSITIVE_INFINITY })).toBe('durable');
  });
});
