import { describe, expect, it } from 'vitest';
import { isSettled } from '../support/deferred.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { SkippingClock } from '../support/skippingClock.ts';
import { newSchema } from '../store/startPostgres.ts';
import { claimed, message } from './claimedSession.ts';

/** A session of a node whose messages cannot be written any more. */
async function startCut() {
  const { open, ask } = await newSchema();
  const clock = new SkippingClock();
  clock.stop();
  const store = await open({ clock, leaseMs: 30_000, direct: false });
  const ledger = await claimed(store, 'a');
  let losses = 0;
  ledger.watch?.(() => losses++);
  expect(await ledger.post(message(1))).toBe('durable');
  await ask('ALTER TABLE uw.message RENAME TO away');
  const posted = ledger.post(message(2));
  await expect.poll(() => store.degraded).toBe(true);
  const mend = async () => {
    await ask('ALTER TABLE IF EXISTS uw.message RENAME TO made_anew');
    await ask('ALTER TABLE uw.away RENAME TO message');
  };
  const numbers = async () =>
    (await ask('SELECT number FROM uw.message ORDER BY number')).map(({ number }) => Number(number));
  return { store, ledger, clock, posted, losses: () => losses, mend, numbers, ask, open };
}

describe.skipIf(!hasPostgres)('a message of a session in PostgreSQL, while that cannot be written', () => {
  it('[N-3] is told of when it is committed, within the lease', async () => {
    const { clock, posted, mend, numbers } = await startCut();
    expect(await isSettled(posted)).toBe(false);
    await mend();
    clock.skip(1_000);
    expect(await posted).toBe('durable');
    expect(await numbers()).toEqual([1, 2]);
  });

  it('[N-3] is not kept, and never will be, once the session is lost', async () => {
    const { store, ledger, clock, posted, losses, mend, numbers, ask, open } = await startCut();
    const late = ledger.post(message(3));
    await ask('ALTER TABLE uw.node RENAME TO gone');
    clock.skip(27_000);
    expect(losses()).toBe(1);
    // Of the answer to the first nobody knows: it was sent.
    expect([await posted, await late]).toEqual(['volatile', 'fenced']);
    await ask('ALTER TABLE uw.gone RENAME TO node');
    await mend();
    clock.skip(1_000);
    await expect.poll(() => store.degraded).toBe(false);
    expect(await numbers()).toEqual([1]);
    // The next owner gives its number to another message.
    await ask(`UPDATE uw.node SET expires_at = clock_timestamp() - interval '1 s' WHERE id = 'a'`);
    const next = await claimed(await open({ direct: false }), 'b');
    expect(await next.post(message(2))).toBe('durable');
    expect(await numbers()).toEqual([1, 2]);
  });

  it('[N-3] leaves mail that has joined it for the next owner, once the session is lost', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    clock.stop();
    const store = await open({ clock, leaseMs: 30_000, direct: false });
    const ledger = await claimed(store, 'a');
    ledger.watch?.(() => undefined);
    await ask(`CREATE FUNCTION uw.no_space() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'No space left' USING ERRCODE = '53100'; END $$`);
    await ask('CREATE TRIGGER no_space BEFORE INSERT ON uw.message EXECUTE FUNCTION uw.no_space()');
    await ask(`INSERT INTO uw.mail (session, sender, body, key, posted_at) VALUES ('a', 'b', '{}', 'k', 0)`);
    const [mail] = await ask('SELECT id FROM uw.mail');
    const posted = ledger.post(message(1));
    const joined = ledger.takeMail?.({ mail: Number(mail?.['id']), number: 1, joins: true });
    await expect.poll(() => store.degraded).toBe(true);
    await ask('ALTER TABLE uw.node RENAME TO gone');
    clock.skip(27_000);
    expect(await posted).not.toBe('durable');
    await ask('ALTER TABLE uw.gone RENAME TO node');
    await ask('DROP TRIGGER no_space ON uw.message');
    clock.skip(1_000);
    await expect.poll(() => store.degraded).toBe(false);
    expect(await joined).toBe('fenced');
    expect(await ask('SELECT number FROM uw.message')).toEqual([]);
    expect(await ask('SELECT state FROM uw.mail')).toEqual([{ state: 'waiting' }]);
  });

  it('[N-3] [I-1] is told of as not kept where its gateway stops', async () => {
    const { store, posted } = await startCut();
    await store.close();
    expect(await posted).toBe('volatile');
  });
});
