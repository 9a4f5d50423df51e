import { describe, expect, it, onTestFinished } from 'vitest';
import { connectTo, hasPostgres } from '../../support/postgresServer.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { newSchema } from '../startPostgres.ts';
import { asked, claimed, limits, message } from './claimedSession.ts';

describe.skipIf(!hasPostgres)('a lease', () => {
  it('[N-2] is refused to others while it lasts, and given to the next with a higher token when it has run out', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open({ leaseMs: 60_000 }), await open()];
    await claimed(one, 'a');
    expect(await asked(two, 'b')).toEqual({ held: true, by: 'a' });
    await ask('UPDATE uw.lease SET expires_at = clock_timestamp()');
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

  it('[N-2] that has run out fences its owner, though nobody else has taken it', async () => {
    const { open, ask } = await newSchema();
    const ledger = await claimed(await open(), 'a');
    await ask('UPDATE uw.lease SET expires_at = clock_timestamp()');
    expect(await ledger.post(message(1))).toBe('fenced');
  });

  it('[N-2] is locked by the write that it fences: a take-over waits for the commit', async () => {
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
    const order: string[] = [];
    const posted = ledger.post(message(1)).finally(() => order.push('write'));
    await expect.poll(() => waiting('advisory')).toBe(1);
    const ended = ask('UPDATE uw.lease SET expires_at = clock_timestamp()').then(() => order.push('lease'));
    await expect.poll(() => waiting('transactionid')).toBe(1);
    await holder.query(`SELECT pg_advisory_unlock(${lock})`);
    expect(await posted).toBe('durable');
    await ended;
    expect(order).toEqual(['write', 'lease']);
    expect(await asked(two, 'b')).toMatchObject({ held: false, recovered: { waiting: [{ number: 1 }] } });
  });

  it('[N-2] is renewed for all sessions of a runtime in one statement', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    const store = await open({ clock, leaseMs: 30_000 });
    const sessions = store.sessions({ id: 'a', isAlive: () => true });
    expect(sessions.claimEveryMs).toBe(15_000);
    await Promise.all(['s', 't', 'u'].map((session) => sessions.claim(session, limits)));
    await ask(`UPDATE uw.lease SET expires_at = clock_timestamp() + interval '5 s'`);
    clock.skip(10_000);
    const later = `SELECT count(*)::int AS n, count(DISTINCT xmin::text)::int AS commits FROM uw.lease
      WHERE expires_at > clock_timestamp() + interval '20 s'`;
    await expect.poll(() => ask(later)).toEqual([{ n: 3, commits: 1 }]);
  });

  it('[N-2] [N-6] that could not be renewed in time is given up before it ends, without asking', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    clock.stop();
    const store = await open({ clock, leaseMs: 30_000 });
    const ledger = await claimed(store, 'a');
    clock.skip(9_000);
    expect(await ledger.post(message(1))).toBe('durable');
    await ask('ALTER TABLE uw.lease RENAME TO away');
    clock.skip(18_000);
    expect(await ledger.post(message(2))).toBe('fenced');
    await ask('ALTER TABLE uw.away RENAME TO lease');
    expect(await ask('SELECT number FROM uw.message')).toEqual([{ number: '1' }]);
  });

  it('[G-11] is given back by a runtime that leaves, for all its sessions', async () => {
    const { open } = await newSchema();
    const [one, two] = [await open(), await open()];
    await claimed(one, 'a', 's');
    await claimed(one, 'a', 't');
    one.runtimes.leave('a');
    await one.flush();
    expect(await Promise.all(['s', 't'].map((session) => asked(two, 'b', session)))).toMatchObject([
      { held: false },
      { held: false },
    ]);
  });
});
