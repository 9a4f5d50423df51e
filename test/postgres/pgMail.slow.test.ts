import { describe, expect, it, vi } from 'vitest';
import type { Outcome } from '../../src/policy/failures/failure.ts';
import type { IncomingMail, OutgoingMail, SessionMail } from '../../src/sessions/sessionMail.ts';
import { PgDatabase } from '../../postgres/pgDatabase.ts';
import type { PostgresStore } from '../../postgres/postgresStore.ts';
import { deferred, isSettled } from '../support/deferred.ts';
import { hasPostgres } from '../support/postgresServer.ts';
import { SkippingClock } from '../support/skippingClock.ts';
import { newSchema } from '../store/startPostgres.ts';
import { claimed, limits, now } from './claimedSession.ts';

const outgoing = (text: string, more: Partial<OutgoingMail> = {}): OutgoingMail => ({
  session: 's',
  message: { kind: 'user', text },
  key: undefined,
  at: now,
  limit: 1000,
  ended: () => undefined,
  ...more,
});

/** The mail of a runtime of this store. */
function mailOf(store: PostgresStore, runtime: string): SessionMail {
  const { mail } = store.sessions({ id: runtime, isAlive: () => true });
  if (mail === undefined) throw new Error('no mail');
  return mail;
}

describe.skipIf(!hasPostgres)('mail', () => {
  it('[N-3] of one key is kept once, though two nodes send it at the same moment', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    const senders = [mailOf(one, 'a'), mailOf(two, 'b')];
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`);
    const posted = await Promise.all(
      senders.flatMap((mail, index) => {
        const order = index === 0 ? keys : keys.toReversed();
        return order.map(async (key) => ({ key, what: await mail.post(outgoing(key, { key })) }));
      }),
    );
    for (const key of keys) {
      const [kept, other] = posted
        .filter((each) => each.key === key)
        .map(({ what }) => what)
        .toSorted((a, b) => b.mailed.localeCompare(a.mailed));
      expect(kept).toMatchObject({ mailed: 'kept' });
      expect(other).toEqual({
        mailed: 'duplicate',
        first: { number: 0, mail: kept?.mailed === 'kept' ? kept.mail : undefined },
      });
    }
    expect(await ask('SELECT count(*)::int AS n FROM uw.mail')).toEqual([{ n: 20 }]);
  });

  it('[N-3] has ids in the order in which a node sent it, whatever the keys', async () => {
    const { open, ask } = await newSchema();
    const mail = mailOf(await open(), 'a');
    const texts = ['c', 'a', 'b', 'd'];
    await Promise.all(texts.map((text) => mail.post(outgoing(text, { key: text }))));
    expect((await ask('SELECT key FROM uw.mail ORDER BY id')).map(({ key }) => key)).toEqual(texts);
  });

  it('[N-3] [I-5] is refused beyond the bound of its session, in one commit as in many', async () => {
    const { open } = await newSchema();
    const mail = mailOf(await open(), 'a');
    const post = (more?: Partial<OutgoingMail>) => mail.post(outgoing('x', { limit: 3, ...more }));
    const posted = await Promise.all([post(), post(), post(), post({ session: 't' }), post(), post()]);
    expect(posted.map(({ mailed }) => mailed)).toEqual(['kept', 'kept', 'kept', 'kept', 'full', 'full']);
    expect(await post()).toEqual({ mailed: 'full' });
  });

  it('[N-3] is found by polling where no hint comes, for all sessions of a node in one statement', async () => {
    const { open } = await newSchema();
    const clock = new SkippingClock();
    const [one, two] = [await open({ clock }), await open()];
    const sessions = one.sessions({ id: 'a', isAlive: () => true });
    const got: (readonly IncomingMail[])[] = [];
    for (const session of ['s', 't']) {
      await sessions.claim(session, limits);
      sessions.mail?.serve(session, { receive: (mails) => got.push(mails) > 0 });
    }
    const notify = vi.spyOn(two.node, 'notify').mockReturnValue();
    const mail = mailOf(two, 'b');
    await Promise.all([mail.post(outgoing('1')), mail.post(outgoing('2', { session: 't', key: 'k' }))]);
    expect(notify).toHaveBeenCalledWith('mail a');
    expect(got).toEqual([]);
    clock.skip(1_300);
    await expect
      .poll(() => got)
      .toEqual([
        [{ mail: 1, message: { kind: 'user', text: '1' }, key: undefined }],
        [{ mail: 2, message: { kind: 'user', text: '2' }, key: 'k' }],
      ]);
  });

  it('[N-3] that is taken twice makes one message', async () => {
    const { open, ask } = await newSchema();
    const store = await open();
    const ledger = await claimed(store, 'a');
    await mailOf(store, 'b').post(outgoing('1'));
    expect(await ledger.takeMail?.({ mail: 1, number: 1, joins: false })).toBe('durable');
    expect(await ledger.takeMail?.({ mail: 1, number: 2, joins: false })).toBe('volatile');
    expect(await ask('SELECT number, mail FROM uw.message')).toEqual([{ number: '1', mail: '1' }]);
  });

  it('[N-3] [N-2] is taken by nobody who has lost the session', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    const old = await claimed(one, 'a');
    await ask('UPDATE uw.lease SET owner = NULL');
    await mailOf(one, 'c').post(outgoing('1'));
    await claimed(two, 'b');
    expect(await old.takeMail?.({ mail: 1, number: 9, joins: false })).toBe('fenced');
    expect(await ask('SELECT number, mail FROM uw.message')).toEqual([{ number: '1', mail: '1' }]);
  });

  it('[N-3] [N-2] is not ended for its sender by who has lost the session', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    const old = await claimed(one, 'a');
    await mailOf(one, 'c').post(outgoing('1'));
    await old.takeMail?.({ mail: 1, number: 1, joins: false });
    await old.take(1, 1, 1, now);
    await ask('UPDATE uw.lease SET owner = NULL');
    await claimed(two, 'b');
    expect(await old.finish(1, 'done', now, undefined, { ok: true, value: 'late' })).toBe('fenced');
    expect(await ask('SELECT state, outcome FROM uw.mail')).toEqual([{ state: 'taken', outcome: null }]);
  });

  describe('at a claim', () => {
    it('[N-3] all of it is taken, in order, behind what there is', async () => {
      const { open } = await newSchema();
      const [one, two] = [await open(), await open()];
      const ledger = await claimed(one, 'a');
      await ledger.post({ number: 7, message: { kind: 'user', text: 'own' }, key: undefined, at: now });
      const mail = mailOf(two, 'b');
      await Promise.all(['1', '2', '3'].map((text) => mail.post(outgoing(text))));
      await ledger.release();
      const claim = await two.sessions({ id: 'b', isAlive: () => true }).claim('s', limits);
      if (claim?.held !== false) throw new Error('held');
      expect(claim.recovered.waiting.map(({ number, mail: id, message: { text } }) => [number, id, text])).toEqual([
        [7, undefined, 'own'],
        [8, 1, '1'],
        [9, 2, '2'],
        [10, 3, '3'],
      ]);
      expect(claim.past(10)?.lastMessage).toBe(10);
    });

    it('[N-3] one whose key was accepted by the owner before is joined to that message, and answered with it', async () => {
      const { open, ask } = await newSchema();
      const [one, two] = [await open(), await open()];
      const ends: Outcome<unknown>[] = [];
      const mail = mailOf(two, 'b');
      const ledger = await claimed(one, 'a');
      await mail.post(outgoing('1', { key: 'k', ended: (outcome) => ends.push(outcome) }));
      // As if both had been accepted at the same moment.
      await ledger.post({ number: 1, message: { kind: 'user', text: '1' }, key: 'k', at: now });
      await ledger.release();
      const next = await claimed(one, 'c');
      expect(await ask('SELECT number, mail FROM uw.message')).toEqual([{ number: '1', mail: null }]);
      await next.take(1, 1, 1, now);
      await next.finish(1, 'done', now, undefined, { ok: true, value: 'paid' });
      await mail.look();
      expect(ends).toEqual([{ ok: true, value: 'paid' }]);
    });

    it.each([
      ['poison', { maxDeliveries: 1 }, 'crash'],
      ['expired', { wallNow: now + 2_000 }, 'timeout'],
    ])('[N-3] [G-11] the sender of a dead letter (%s) hears of it', async (reason, more, kind) => {
      const { open } = await newSchema();
      const [one, two] = [await open(), await open()];
      const ends: Outcome<unknown>[] = [];
      const mail = mailOf(two, 'b');
      await mail.post(outgoing('1', { ended: (outcome) => ends.push(outcome) }));
      const ledger = await claimed(one, 'a');
      await ledger.take(1, 1, 1, now);
      await ledger.release();
      const claim = await one.sessions({ id: 'c', isAlive: () => true }).claim('s', { ...limits, ...more });
      expect(claim).toMatchObject({ held: false, recovered: { deadLetters: [{ number: 1, mail: 1, reason }] } });
      await mail.look();
      expect(ends).toMatchObject([{ ok: false, failure: { kind, integration: 'session:s' } }]);
      expect(claim?.held === false && (await claim.ledger.deadLetter({ mail: 1 }))).toMatchObject({
        number: 1,
        mail: 1,
        reason,
      });
    });

    it('[N-3] a message that was done when its owner died is answered, without its value', async () => {
      const { open } = await newSchema();
      const [one, two] = [await open(), await open()];
      const ends: Outcome<unknown>[] = [];
      const mail = mailOf(two, 'b');
      await mail.post(outgoing('1', { ended: (outcome) => ends.push(outcome) }));
      const ledger = await claimed(one, 'a');
      await ledger.take(1, 1, 1, now);
      await ledger.finish(1, 'done', now);
      await mail.look();
      expect(ends).toEqual([]);
      await ledger.release();
      await claimed(one, 'c');
      await mail.look();
      expect(ends).toEqual([{ ok: true, value: undefined }]);
    });
  });

  it('[N-3] that ends before its sender has heard that it is kept is told of all the same', async () => {
    const { open, ask } = await newSchema();
    const [one, two] = [await open(), await open()];
    const ledger = await claimed(one, 'a');
    const mail = mailOf(two, 'b');
    await mail.post(outgoing('waits', { session: 'other' }));
    const heard = deferred<undefined>();
    const { transact } = PgDatabase.prototype;
    vi.spyOn(PgDatabase.prototype, 'transact').mockImplementationOnce(async function late(this: PgDatabase, run) {
      const done: unknown = await transact.call(this, run);
      await heard.promise;
      return done;
    });
    const ends: Outcome<unknown>[] = [];
    const posting = mail.post(outgoing('quick', { ended: (end) => ends.push(end) }));
    await expect.poll(() => ask(`SELECT id FROM uw.mail WHERE session = 's'`)).toEqual([{ id: '2' }]);
    expect(await ledger.takeMail?.({ mail: 2, number: 1, joins: false })).toBe('durable');
    await ledger.take(1, 1, 1, now);
    await ledger.finish(1, 'done', now, undefined, { ok: true, value: 7 });
    await mail.look();
    await two.flush();
    expect(await isSettled(posting)).toBe(false);
    heard.resolve(undefined);
    expect(await posting).toEqual({ mailed: 'kept', mail: 2 });
    await mail.look();
    expect(ends).toEqual([{ ok: true, value: 7 }]);
  });

  it('[N-3] that joins a message which has ended is answered at once', async () => {
    const { open } = await newSchema();
    const [one, two] = [await open(), await open()];
    const ends: Outcome<unknown>[] = [];
    const mail = mailOf(two, 'b');
    const ledger = await claimed(one, 'a');
    await mail.post(outgoing('1', { key: 'k', ended: (outcome) => ends.push(outcome) }));
    await ledger.post({ number: 1, message: { kind: 'user', text: '1' }, key: 'k', at: now });
    await ledger.finish(1, 'failed', now, 'no "money" left');
    expect(await ledger.takeMail?.({ mail: 1, number: 1, joins: true })).toBe('durable');
    await mail.look();
    expect(ends).toMatchObject([{ ok: false, failure: { kind: 'unknown', message: 'no "money" left' } }]);
  });

  it('[N-3] whose end is known goes: at once without a key, and by age', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    const store = await open({ clock });
    const mail = mailOf(store, 'b');
    await mail.post(outgoing('1'));
    await mail.post(outgoing('2', { key: 'k' }));
    await mail.post(outgoing('3', { session: 't' }));
    const ledger = await claimed(store, 'a');
    for (const number of [1, 2]) await ledger.finish(number, 'done', now, undefined, { ok: true, value: number });
    await mail.look();
    await store.flush();
    const rows = (): Promise<unknown[]> => ask('SELECT id, state, outcome FROM uw.mail ORDER BY id');
    expect(await rows()).toEqual([
      { id: '2', state: 'answered', outcome: null },
      { id: '3', state: 'waiting', outcome: null },
    ]);
    await ask(`UPDATE uw.mail SET changed_at = changed_at - interval '11 min'`);
    clock.skip(80_000);
    await expect.poll(rows).toEqual([{ id: '3', state: 'waiting', outcome: null }]);
  });

  it('[N-6] that nobody takes tells how long it has waited, whoever owns its session; that behind others does not', async () => {
    const { open, ask } = await newSchema();
    const clock = new SkippingClock();
    const [one, two] = [await open(), await open({ clock })];
    const ledger = await claimed(one, 'a');
    await ledger.post({ number: 1, message: { kind: 'user', text: '1' }, key: undefined, at: now });
    const mail = mailOf(two, 'b');
    await mail.post(outgoing('1'));
    await mail.post(outgoing('2', { session: 'nobody' }));
    await ask(`UPDATE uw.mail SET sent_at = sent_at - interval '40 s'`);
    await ask(`UPDATE uw.mail SET sent_at = sent_at - interval '9 s' WHERE session = 's'`);
    const looked = async (): Promise<unknown> => {
      clock.skip(1_300);
      await two.look();
      return mail.oldest.map(({ session }) => session);
    };
    await expect.poll(looked).toEqual(['nobody']);
    expect(mail.oldest[0]?.waitMs).toBeGreaterThanOrEqual(40_000);
    await ledger.finish(1, 'done', now);
    await expect.poll(looked).toEqual(['s', 'nobody']);
    expect(mail.oldest[0]?.waitMs).toBeGreaterThanOrEqual(49_000);
    await ask('DELETE FROM uw.mail');
    await expect.poll(looked).toEqual([]);
  });
});
