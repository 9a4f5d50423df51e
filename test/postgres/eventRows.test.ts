import { describe, expect, it, onTestFinished } from 'vitest';
import { connectTo, hasPostgres } from '../support/postgresServer.ts';
import { newSchema } from '../store/startPostgres.ts';
import { failed } from '../store/startStore.ts';

/** A store, and somebody whose transaction has an event that is not committed. */
async function startWithOpenCommit() {
  const { open, url, schema, ask } = await newSchema();
  const store = await open();
  const slow = await connectTo(url);
  onTestFinished(() => slow.end());
  const record = async (call: number): Promise<void> => {
    store.record(failed(call));
    await store.flush();
  };
  await record(1);
  await slow.query('BEGIN');
  await slow.query(`INSERT INTO ${schema}.event (at, category, type, metadata, sessions, failed)
    VALUES (2, 'store', 'slow', '{}', '{}', false)`);
  await record(3);
  const after = async (id: number) => (await store.read({ after: id, limit: 10 })).map((event) => event.id);
  return { store, slow, ask, record, after };
}

describe.skipIf(!hasPostgres)('the tail of the events of several nodes', () => {
  it('[N-1] [O-1] waits for an event with a lower id that is not committed yet, and skips none', async () => {
    const { slow, after, store } = await startWithOpenCommit();
    expect(await after(0)).toEqual([1]);
    expect(await after(1)).toEqual([]);
    expect((await store.read({ limit: 10 })).map(({ id }) => id)).toEqual([1, 3]);
    await slow.query('COMMIT');
    expect(await after(1)).toEqual([2, 3]);
  });

  it('[N-1] [O-1] waits for the id of a transaction that was rolled back no longer than a transaction can take', async () => {
    const { slow, after, ask, record } = await startWithOpenCommit();
    await slow.query('ROLLBACK');
    expect(await after(1)).toEqual([]);
    await ask(`UPDATE uw.event SET added_at = added_at - interval '31 s' WHERE id = 3`);
    await record(4);
    expect(await after(1)).toEqual([3, 4]);
    expect(await after(3)).toEqual([4]);
  });

  it('[N-1] [O-1] does not wait for somebody else who writes something of their own for long', async () => {
    const { open, url, ask } = await newSchema();
    const store = await open();
    const other = await connectTo(url);
    onTestFinished(() => other.end());
    await other.query('BEGIN');
    await other.query('SELECT pg_current_xact_id()');
    for (const call of [1, 2]) store.record(failed(call));
    await store.flush();
    expect((await store.read({ after: 0, limit: 10 })).map(({ id }) => id)).toEqual([1, 2]);
    expect(await ask('SELECT count(*)::int AS n FROM uw.event')).toEqual([{ n: 2 }]);
  });
});
