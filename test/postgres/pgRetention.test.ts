import { describe, expect, it, onTestFinished } from 'vitest';
import type { Retention } from '../../src/policy/retention.ts';
import { PgConnections } from '../../postgres/pgConnections.ts';
import { importPg } from '../../postgres/pgDriver.ts';
import { prunedDatabase } from '../../postgres/pgRetention.ts';
import { readTarget } from '../../postgres/pgTarget.ts';
import { Pruner } from '../../src/store/pruner.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { RecordedFacts } from '../support/facts.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { newSchema } from '../store/startPostgres.ts';
import { claimed, message } from './claimedSession.ts';

const day = 24 * 60 * 60_000;

async function start() {
  const { open, url, ask } = await newSchema();
  const facts = new RecordedFacts();
  const pruner = async (more: Partial<Retention> = {}): Promise<Pruner> => {
    const connections = new PgConnections(await importPg(url), readTarget(url), 1);
    const retention = { maxAgeMs: 30 * day, maxBytes: Infinity, ...more };
    const made = new Pruner({ engine: prunedDatabase(connections, retention), clock: systemClock, facts, retention });
    onTestFinished(() => made.stop());
    return made;
  };
  const count = async (table: string, where = 'true'): Promise<number> =>
    Number((await ask(`SELECT count(*) AS n FROM uw.${table} WHERE ${where}`))[0]?.['n']);
  return { store: await open(), open, ask, facts, pruner, count };
}

/** SQL for a wall time so many days ago, in ms. */
const ago = (days: number): string => `(extract(epoch FROM clock_timestamp()) * 1000 - ${days * day})::bigint`;

describe.skipIf(!hasPostgres)('the retention of a PostgreSQL database', () => {
  it('[N-1] [I-4] deletes what is older than its age, of every table, in small steps, and tells of it', async () => {
    const { ask, pruner, count, facts } = await start();
    await ask(`INSERT INTO uw.event (at, category, type, metadata, sessions, failed)
      SELECT ${ago(31)}, 'store', 'old', '{}', '{}'::text[], false FROM generate_series(1, 1200)
      UNION ALL SELECT ${ago(29)}, 'store', 'young', '{}', '{}', false FROM generate_series(1, 3)`);
    for (const days of [31, 29]) {
      await ask(`INSERT INTO uw.alert (id, integration, because, kind, message, failures, crashes, raised_at, last_failure_at, cleared_at)
        VALUES ('a${days}', 'kb', 'failures', 'timeout', '', 1, 0, 1, 1, ${ago(days)})`);
      await ask(`INSERT INTO uw.statistic (minute, integration, tool) VALUES (${ago(days)}, 'kb', '')`);
      await ask(
        `INSERT INTO uw.flight (integration, run, pid, at, because, record) VALUES ('kb', 'r', 1, ${ago(days)}, 'failure', '{}')`,
      );
      await ask(
        `INSERT INTO uw.policy (name, digest, policy, since, seen_at) VALUES ('kb', 'd${days}', '{}', 1, ${ago(days)})`,
      );
      await ask(
        `INSERT INTO uw.writer (id, batch, at) VALUES (gen_random_uuid(), 1, clock_timestamp() - interval '${days} days')`,
      );
    }
    await ask(`INSERT INTO uw.statistic (minute, integration, tool) VALUES (-1, 'kb', '')`);
    await ask(`INSERT INTO uw.alert (id, integration, because, kind, message, failures, crashes, raised_at, last_failure_at)
      VALUES ('open', 'kb', 'failures', 'timeout', '', 1, 0, ${ago(40)}, ${ago(40)})`);
    expect(await (await pruner()).pass()).toBe(true);
    expect(await ask('SELECT DISTINCT type FROM uw.event')).toEqual([{ type: 'young' }]);
    expect([await count('alert', `id <> 'open'`), await count('alert')]).toEqual([1, 2]);
    expect([await count('statistic'), await count('statistic', 'minute = -1')]).toEqual([2, 1]);
    expect([await count('flight'), await count('policy')]).toEqual([1, 1]);
    expect(await count('writer', `at < clock_timestamp() - interval '30 days'`)).toBe(0);
    expect(facts.all).toMatchObject([{ type: 'store.pruned', because: 'age', rows: 1205 }]);
  });

  it('[N-1] [I-4] deletes what ended of sessions, but not the last message of one that a node has, and forgets those of which nothing is left', async () => {
    const { store, ask, pruner, count } = await start();
    await claimed(store, 'a', 'owned');
    const free = await claimed(store, 'a', 'free');
    const waiting = await claimed(store, 'a', 'waiting');
    for (const session of ['owned', 'free', 'waiting']) {
      await ask(
        `INSERT INTO uw.message (session, number, body, state, posted_at, ended_at)
         SELECT $1, n, '{"kind":"user"}', 'done', 1, ${ago(31)} FROM generate_series(1, 700) n`,
        [session],
      );
      await ask(
        `INSERT INTO uw.call (id, session, turn, integration, tool, input, runtime, started_at, deadline_at, seq, state, settled_at)
         VALUES ($1 || '1', $1, 1, 'kb', 't', '1', 'a', 1, 1, 1, 'settled', ${ago(31)}),
           ($1 || '2', $1, 1, 'kb', 't', '1', 'a', 1, 1, 2, 'settled', ${ago(1)})`,
        [session],
      );
    }
    await ask(`DELETE FROM uw.call WHERE id = 'free2'`);
    await waiting.post(message(701));
    await free.release();
    await waiting.release();
    await (await pruner()).pass();
    expect(await ask('SELECT session, number::int FROM uw.message ORDER BY session')).toEqual([
      { session: 'owned', number: 700 },
      { session: 'waiting', number: 701 },
    ]);
    expect(await ask('SELECT id FROM uw.call ORDER BY id')).toEqual([{ id: 'owned2' }, { id: 'waiting2' }]);
    expect(await ask('SELECT key FROM uw.lease ORDER BY key')).toEqual([{ key: 'owned' }, { key: 'waiting' }]);
    expect(await count('lease')).toBe(2);
  });

  it('[N-1] [I-4] forgets runs and children of machines that were not heard of for a day', async () => {
    const { ask, pruner } = await start();
    for (const [id, days] of [
      ['gone', 2],
      ['here', 0],
    ]) {
      await ask(`INSERT INTO uw.runtime (id, host, pid, process_start, started_at, renewed_at, name, seen_at)
        VALUES ('${id}', '${id}', 1, '', 1, 1, 'x', clock_timestamp() - interval '${days} days')`);
      await ask(`INSERT INTO uw.child (host, pid, process_start, mark, command, started_at, owner_pid, owner_start)
        VALUES ('${id}', 2, '', '', 'x', ${ago(3)}, 1, '')`);
    }
    await (await pruner()).pass();
    expect(await ask('SELECT id FROM uw.runtime')).toEqual([{ id: 'here' }]);
    expect(await ask('SELECT host FROM uw.child')).toEqual([{ host: 'here' }]);
  });

  it('[N-1] [I-4] is done by one of the nodes that have the same bounds, and by another when that is long ago', async () => {
    const { ask, pruner } = await start();
    const [one, two, other] = [await pruner(), await pruner(), await pruner({ maxAgeMs: 7 * day })];
    const passed = await Promise.all([one.pass(), two.pass()]);
    expect(passed.filter(Boolean)).toHaveLength(1);
    expect(await other.pass()).toBe(true);
    await ask(`UPDATE uw.chore SET at = at - interval '31 min'`);
    expect(await two.pass()).toBe(true);
    expect(await one.pass()).toBe(false);
  });

  it('[N-1] [I-4] deletes the oldest where there is more than its size', async () => {
    const { ask, pruner, facts, count } = await start();
    for (const days of [20, 10, 1])
      await ask(`INSERT INTO uw.event (at, category, type, metadata, sessions, failed)
        SELECT ${ago(days)}, 'store', 'x', repeat('y', 900), '{}', false FROM generate_series(1, 1000)`);
    await ask('SELECT pg_stat_force_next_flush()').catch(() => []);
    await expect
      .poll(async () => (await ask(`SELECT pg_stat_get_live_tuples('uw.event'::regclass)::int AS n`))[0]?.['n'])
      .toBe(3000);
    await (await pruner({ maxBytes: 2_400_000 })).pass();
    expect(await count('event')).toBe(2000);
    expect(facts.all).toMatchObject([{ type: 'store.pruned', because: 'size', rows: 1000 }]);
    expect(await count('event', `at < ${ago(15)}`)).toBe(0);
  });

  it.each([
    [2 * day, ['owned']],
    [2 * day - 2, ['free', 'owned']],
  ])(
    '[N-1] [I-4] deletes what ended of sessions for the size from a day of age on, no younger: of %d ms',
    async (maxAgeMs, left) => {
      const { store, ask, pruner } = await start();
      await claimed(store, 'a', 'owned');
      await (await claimed(store, 'a', 'free')).release();
      for (const session of ['owned', 'free'])
        await ask(
          `INSERT INTO uw.message (session, number, body, state, posted_at, ended_at)
           VALUES ($1, 1, '{"kind":"user"}', 'done', 1, ${ago(1.25)})`,
          [session],
        );
      await (await pruner({ maxAgeMs, maxBytes: 1 })).pass();
      expect((await ask('SELECT session FROM uw.message ORDER BY session')).map((row) => row['session'])).toEqual(left);
    },
  );

  it('[N-1] [I-4] begins a minute after a store was opened with it, and not without', async () => {
    const { ask, open, count } = await start();
    const event = `INSERT INTO uw.event (at, category, type, metadata, sessions, failed) VALUES (1, 'store', 'x', '{}', '{}', false)`;
    const clock = new SimulatedClock();
    await open({ clock, retention: { maxAgeMs: '30d' } });
    await ask(event);
    await clock.advance(59_000);
    expect(await count('event')).toBe(1);
    expect(await count('chore')).toBe(0);
    await clock.advance(2_000);
    await expect.poll(() => count('event')).toBe(0);
  });

  it('[N-1] [I-4] never rejects: what is wrong is said by what the gateway writes', async () => {
    const { store, ask, pruner, facts } = await start();
    await store.close();
    await ask('DROP TABLE uw.event');
    expect(await (await pruner()).pass()).toBe(true);
    expect(facts.all).toEqual([]);
  });
});
