import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Fact } from '../../src/policy/facts/facts.ts';
import type { Kept } from '../../src/sessions/sessionStore.ts';
import { PgConnections } from '../../postgres/pgConnections.ts';
import { RecordedFacts } from '../support/facts.ts';
import { hasPostgres, postgresServer } from '../support/postgresServer.ts';
import { type Cut, startPostgresProxy } from '../support/postgresProxy.ts';
import { failed } from '../store/startStore.ts';
import { newSchema } from '../store/startPostgres.ts';
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
      expect(await store.alerts.extend('kb', 'failures', now, { kind: 'timeout', message: 'no answer' })).toBe(true);
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

  it.each<Cut>(['before_commit', 'after_commit', 'on_the_way'])(
    '[N-1] [I-5] of one row, whose connection is lost %s, is neither lost nor made twice',
    async (when) => {
      const { proxy, store, ask } = await startBehindProxy();
      const ledger = await claimed(store, 'a');
      expect(await ledger.post(message(1))).toBe('durable');
      proxy.cut(when, 'take_message_one');
      expect(await ledger.take(1, 1, 1, now)).toBe('durable');
      expect(proxy.cuts).toBe(1);
      await proxy.late();
      expect(await ask('SELECT state, deliveries FROM uw.message')).toEqual([{ state: 'taken', deliveries: 1 }]);
    },
  );

  it.each<Cut>(['before_commit', 'after_commit', 'on_the_way'])(
    '[N-1] [I-5] of rows of one kind, whose connection is lost %s, is neither lost nor made twice',
    async (when) => {
      const { proxy, store, ask } = await startBehindProxy();
      const ledgers = await Promise.all(['s', 't'].map((session) => claimed(store, 'a', session)));
      await Promise.all(ledgers.map((ledger) => ledger.post(message(1))));
      proxy.cut(when, 'put_back_message_many');
      expect(await Promise.all(ledgers.map((ledger) => ledger.putBack(1, true)))).toEqual(['durable', 'durable']);
      expect(proxy.cuts).toBe(1);
      await proxy.late();
      expect(await ask('SELECT stops FROM uw.message')).toEqual([{ stops: 1 }, { stops: 1 }]);
    },
  );

  it('[N-1] [I-5] that comes late, after it was sent again, writes nothing', async () => {
    const { proxy, store, ask } = await startBehindProxy();
    const ledger = await claimed(store, 'a');
    expect(await ledger.post(message(1))).toBe('durable');
    proxy.cut('on_the_way');
    store.breakers.countFailure('kb', 0);
    expect(await ledger.putBack(1, true)).toBe('durable');
    await proxy.late();
    expect(proxy.cuts).toBe(1);
    expect(await ask('SELECT stops FROM uw.message')).toEqual([{ stops: 1 }]);
    expect(await ask('SELECT failures FROM uw.breaker')).toEqual([{ failures: 1 }]);
  });

  it('[N-1] of one row, or of rows of one kind, is one statement, of several kinds one way to the server', async () => {
    const { proxy, store } = await startBehindProxy();
    const ledger = await claimed(store, 'a');
    const before = proxy.commits;
    await ledger.post(message(1));
    await Promise.all([ledger.post(message(2)), ledger.post(message(3))]);
    expect(proxy.commits - before).toBe(0);
    await Promise.all([ledger.take(1, 1, 1, now), ledger.post(message(4))]);
    expect(proxy.commits - before).toBe(1);
  });

  it('[N-1] [I-5] of very long rows waits for its answers before it commits: the driver may not be able to send one', async () => {
    const alone = vi.spyOn(PgConnections.prototype, 'alone');
    onTestFinished(() => alone.mockRestore());
    const { open } = await newSchema();
    const ledger = await claimed(await open(), 'a');
    const post = (numbers: readonly number[], length: number): Promise<readonly Kept[]> =>
      Promise.all(
        numbers.map((number) =>
          ledger.post({ ...message(number), message: { kind: 'user', text: 'x'.repeat(length) } }),
        ),
      );
    expect(await post([1, 2], 4_000_000)).toEqual(['durable', 'durable']);
    expect(alone).toHaveBeenCalledTimes(1);
    expect(await post([3, 4], 6_000_000)).toEqual(['durable', 'durable']);
    expect(alone).toHaveBeenCalledTimes(1);
  });

  it('[N-2] says of each row whether its lease held, where one of them was taken over', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const [kept, lost] = await Promise.all(['s', 't'].map((session) => claimed(store, 'a', session)));
    if (kept === undefined || lost === undefined) throw new Error('No sessions');
    expect(await Promise.all([kept.post(message(1)), lost.post(message(1))])).toEqual(['durable', 'durable']);
    await ask("UPDATE uw.lease SET token = token + 1, owner = NULL WHERE key = 't'");
    expect(await Promise.all([kept.post(message(2)), lost.post(message(2))])).toEqual(['durable', 'fenced']);
    expect(await Promise.all([kept.take(1, 1, 1, now), lost.post(message(3))])).toEqual(['durable', 'fenced']);
    expect(await lost.post(message(4))).toBe('fenced');
    expect(await lost.take(1, 1, 1, now)).toBe('fenced');
    expect(await kept.take(2, 2, 1, now)).toBe('durable');
    const rows = await ask('SELECT session, number::int, deliveries FROM uw.message ORDER BY 1, 2');
    expect(rows).toEqual([
      { session: 's', number: 1, deliveries: 1 },
      { session: 's', number: 2, deliveries: 1 },
      { session: 't', number: 1, deliveries: 0 },
    ]);
  });

  it('[N-1] says of a row that is not there that it was not kept, and keeps the others', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const ledgers = await Promise.all(['s', 't'].map((session) => claimed(store, 'a', session)));
    const [one, other] = ledgers;
    if (one === undefined || other === undefined) throw new Error('No sessions');
    await one.post(message(1));
    expect(await other.finish(1, 'done', now)).toBe('volatile');
    expect(await Promise.all(ledgers.map((ledger) => ledger.finish(1, 'done', now)))).toEqual(['durable', 'volatile']);
    // Of two messages of one number the first stands.
    expect(await one.post(message(1))).toBe('volatile');
    expect(await ask('SELECT session, state FROM uw.message')).toEqual([{ session: 's', state: 'done' }]);
  });

  it('[N-1] goes on where the row of its writer is gone', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const ledger = await claimed(store, 'a');
    await ask('DELETE FROM uw.writer');
    expect(await ledger.post(message(1))).toBe('durable');
    expect(await ask('SELECT count(*)::int AS writers FROM uw.writer')).toEqual([{ writers: 1 }]);
  });

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

  it('[N-1] [O-13] tells of no order as done whose record the database refuses', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const fact: Fact = { type: 'operator.dropped', session: 's', message: 's-m1' };
    const earlier = await claimed(store, 'a');
    // Too old to be delivered: the next owner has it as a dead letter.
    expect(await earlier.post({ ...message(1), at: now - 1001 })).toBe('durable');
    await earlier.release();
    const ledger = await claimed(store, 'a');
    await ask(`ALTER TABLE uw.event ADD CHECK (type <> 'dropped')`);
    expect(await ledger.bury(1, now, 'dropped', fact)).toBe('volatile');
    expect(await ledger.deadLetter({ number: 1 })).toBeDefined();
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
