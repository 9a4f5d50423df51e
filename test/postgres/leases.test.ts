import { describe, expect, it, onTestFinished } from 'vitest';
import { connectTo, hasPostgres } from '../support/postgresServer.ts';
import { SkippingClock } from '../support/skippingClock.ts';
import { newSchema } from '../store/startPostgres.ts';
import { asked, claimed, limits, message } from './claimedSession.ts';

const expire = 'UPDATE uw.node SET expires_at = clock_timestamp() WHERE id = $1';

describe.skipIf(!hasPostgres)('a lease', () => {
  it('[N-2] is refused to others while its node lives, and given to the next with a higher token when that has expired', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    await claimed(one, 'a');
    expect(await asked(two, 'b')).toEqual({ held: true, by: 'a' });
    await ask(expire, ['a']);
    await claimed(two, 'b');
    expect(await ask('SELECT owner, token FROM uw.lease')).toEqual([{ owner: 'b', token: '2' }]);
  });

  it('[N-2] goes to one of many who ask at once', async () => {
    const { open } = await newSchema();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    const claims = await Promise.all(stores.map((store, index) => asked(store, `r-${index}`)));
    expect(claims.filter((claim) => claim?.held === false)).toHaveLength(1);
  });

  it('[N-2] fences by token and id alike: a token that is given out anew is not taken for the earlier one', async () => {
    const { open, ask } = await newSchema();
    const ledger = await claimed(await open(), 'a');
    await ask('UPDATE uw.lease SET lease_id = gen_random_uuid()');
    expect(await ledger.post(message(1))).toBe('fenced');
    expect(await ask('SELECT number FROM uw.message')).toEqual([]);
  });

  it('[N-2] [N-4] that another node has taken fences the one that had it, which knows nothing of that', async () => {
    const { open, ask } = await newSchema();
    const ledger = await claimed(await open(), 'a');
    await ask(expire, ['a']);
    await claimed(await open(), 'b');
    expect(await ledger.post(message(1))).toBe('fenced');
    expect(await ask('SELECT number FROM uw.message')).toEqual([]);
  });

  it('[N-2] is locked by the write that it fences: nobody takes it before the commit, nor waits for that', async () => {
    const { open, ask, url, schema } = await newSchema();
    const [one, two] = [await open({ leaseMs: 60_000 }), await open()];
    const ledger = await claimed(one, 'a');
    // The statement of the write waits inside, when its fence was checked, for a lock that is held here.
    const holder = await connectTo(url);
    onTestFinished(() => holder.end());
    const lock = `hashtext('${schema}')`;
    await holder.query(`SELECT pg_advisory_lock(${lock})`);
    await ask(`CREATE FUNCTION uw.wait() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${lock}); RETURN NEW; END $$`);
    await ask('CREATE TRIGGER wait BEFORE INSERT ON uw.message FOR EACH ROW EXECUTE FUNCTION uw.wait()');
    const waiting = async (what: string): Promise<unknown> =>
      (await ask('SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = $1', [what])).length;
    const posted = ledger.post(message(1));
    await expect.poll(() => waiting('advisory')).toBe(1);
    await ask(expire, ['a']);
    expect(await asked(two, 'b', 's')).toEqual({ held: true, by: 'a' });
    expect(await asked(two, 'b', 'another')).toMatchObject({ held: false });
    await holder.query(`SELECT pg_advisory_unlock(${lock})`);
    expect(await posted).toBe('durable');
    expect(await asked(two, 'b', 's')).toMatchObject({ held: false, recovered: { waiting: [{ number: 1 }] } });
  });

  it('[N-4] is not taken while its node is being renewed, nor is that waited for', async () => {
    const { open, ask, url, schema } = await newSchema();
    const [one, two] = [await open(), await open()];
    await claimed(one, 'a');
    await ask(expire, ['a']);
    const renewal = await connectTo(url);
    onTestFinished(() => renewal.end());
    await renewal.query('BEGIN');
    await renewal.query(`UPDATE ${schema}.node SET expires_at = clock_timestamp() + interval '1 minute'`);
    expect(await asked(two, 'b')).toEqual({ held: true, by: 'a' });
    await renewal.query('ROLLBACK');
    expect(await asked(two, 'b')).toMatchObject({ held: false });
  });

  it('[N-2] [N-8] is renewed for all sessions of a node by one row, their own rows untouched', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    const store = await open({ clock, leaseMs: 30_000 });
    const sessions = store.sessions({ id: 'a', isAlive: () => true });
    expect(sessions.claimEveryMs).toBe(15_000);
    await Promise.all(['s', 't', 'u'].map((session) => sessions.claim(session, limits)));
    const rows = 'SELECT key, xmin::text FROM uw.lease ORDER BY key';
    const before = await ask(rows);
    await ask(`UPDATE uw.node SET expires_at = clock_timestamp() + interval '5 s'`);
    clock.skip(10_000);
    const later = `SELECT owned FROM uw.node WHERE expires_at > clock_timestamp() + interval '20 s'`;
    await expect.poll(() => ask(later)).toEqual([{ owned: 3 }]);
    expect(await ask(rows)).toEqual(before);
  });

  it('[N-2] [N-6] that could not be renewed in time is given up before it ends, without a write', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    clock.stop();
    const store = await open({ clock, leaseMs: 30_000, direct: false });
    const ledger = await claimed(store, 'a');
    let losses = 0;
    ledger.watch?.(() => losses++);
    clock.skip(9_000);
    expect(await ledger.post(message(1))).toBe('durable');
    await ask('ALTER TABLE uw.node RENAME TO away');
    clock.skip(17_999);
    expect(losses).toBe(0);
    clock.skip(1);
    expect(losses).toBe(1);
    expect(await ledger.post(message(2))).toBe('fenced');
    await ask('ALTER TABLE uw.away RENAME TO node');
    expect(await ask('SELECT number FROM uw.message')).toEqual([{ number: '1' }]);
  });

  it('[N-4] [N-6] of a node that was declared dead is given up with its next renewal, and can be claimed again', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    const store = await open({ clock, leaseMs: 30_000 });
    const ledger = await claimed(store, 'a');
    let losses = 0;
    ledger.watch?.(() => losses++);
    await ask(expire, ['a']);
    clock.skip(10_000);
    await expect.poll(() => losses).toBe(1);
    expect(await ledger.post(message(1))).toBe('fenced');
    const again = await claimed(store, 'a');
    expect(await again.post(message(2))).toBe('durable');
    expect(await ask('SELECT token FROM uw.lease')).toEqual([{ token: '2' }]);
  });

  it('[G-11] is given back by a runtime that leaves, for all its sessions', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    await claimed(one, 'a', 's');
    await claimed(one, 'a', 't');
    one.runtimes.leave('a');
    expect(await one.flush()).toBe(true);
    expect(await Promise.all(['s', 't'].map((session) => asked(two, 'b', session)))).toMatchObject([
      { held: false },
      { held: false },
    ]);
    expect(await ask('SELECT id FROM uw.node')).toEqual([{ id: 'b' }]);
  });
});
