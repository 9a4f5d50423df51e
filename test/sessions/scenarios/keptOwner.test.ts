import { describe, expect, it } from 'vitest';
import type { OutgoingMail, SessionMail } from '../../../src/sessions/sessionMail.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { startKept } from '../../support/keptSession.ts';
import { startSession } from '../../support/startSession.ts';

/** Of a store of several machines that is out of reach. */
const deafMail: SessionMail = {
  post: () => Promise.resolve({ mailed: 'not_kept' }),
  serve: () => undefined,
  look: () => Promise.resolve(),
  oldest: [],
};

describe('the owner of a kept session', () => {
  it('[M-11] dispatches no call, and takes no message, once another runtime has taken the session over', async () => {
    const results: unknown[] = [];
    const { session, clock, facts, store, tool } = await startKept(async (_message, turn) => {
      results.push(await turn.tool('kb', 'query'));
    });
    let calls = 0;
    tool('kb', () => ++calls);
    const first = session.send({ kind: 'user' });
    const waits = session.send({ kind: 'user' });
    await clock.settle();
    store.commit();
    await clock.settle();
    store.commit('fenced');
    await clock.settle();
    expect([calls, results]).toMatchObject([0, [{ synthetic: true, outcome: 'not_started' }]]);
    expect(facts.of('session.taken_over')).toHaveLength(1);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    for (const acceptance of [await first, await waits]) {
      expect(acceptance.accepted && (await acceptance.processed)).toMatchObject({
        ok: false,
        failure: {
          ...{ kind: 'cancelled', reason: 'taken_over', outcome: 'unknown' },
          message: 'This gateway has lost the session; a message that is kept is processed by its next owner',
        },
      });
    }
  });

  it('[G-11] refuses while another runtime holds it, and takes messages once it is free', async () => {
    const store = new HeldStore();
    store.held = 'other';
    const { session, facts } = await startKept(() => 'done', {}, store);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    await session.open(store);
    expect(facts.of('session.held')).toEqual([expect.objectContaining({ by: 'other' })]);
    store.held = undefined;
    await session.open(store);
    const acceptance = session.send({ kind: 'user' });
    store.commit();
    expect(await acceptance).toMatchObject({ accepted: true, id: 'agent:main-m1' });
  });

  it('[G-11] [G-6] asks whether it is free when a message comes, and takes the message if it is', async () => {
    const store = new HeldStore();
    store.held = 'other';
    const { session } = startSession({ onMessage: () => 'done' }, undefined, { kept: true });
    let asked = 0;
    const claims = {
      again: () => undefined,
      ask: async () => {
        asked++;
        await session.open(store, claims);
      },
    };
    await session.open(store, claims);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    store.held = undefined;
    const acceptance = session.send({ kind: 'user' });
    await expect.poll(() => session.heldElsewhere).toBe(false);
    store.commit();
    expect(await acceptance).toMatchObject({ accepted: true, durable: true });
    expect(asked).toBe(2);
  });

  it('[N-2] [N-6] takes nothing while the store of several machines cannot say whose it is, and goes on when it can', async () => {
    const store = Object.assign(new HeldStore(), { mail: deafMail, handsOver: true });
    store.outOfOrder = true;
    const { session } = await startKept(() => 'done', {}, store);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'unavailable' });
    expect([session.waiting, session.unclaimed]).toEqual([0, true]);
    store.outOfOrder = false;
    await session.open(store);
    const acceptance = session.send({ kind: 'user' });
    store.commit();
    // Not a number by the clock of this machine.
    expect(await acceptance).toMatchObject({ accepted: true, id: 'agent:main-m1' });
  });

  it('[N-2] [N-6] is nobody’s to process where other nodes may own it and the store cannot say so', async () => {
    const store = new HeldStore();
    store.handsOver = true;
    store.outOfOrder = true;
    const { session } = await startKept(() => 'done', {}, store);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
    store.outOfOrder = false;
    await session.open(store);
    const acceptance = session.send({ kind: 'user' });
    store.commit();
    expect(await acceptance).toMatchObject({ accepted: true, id: 'agent:main-m1' });
  });

  it.each<[string, 'fenced' | 'volatile', Partial<SessionMail>, object]>([
    [
      'is left for the next owner',
      'fenced',
      { post: () => Promise.resolve({ mailed: 'kept', mail: 12 }) },
      { accepted: true, durable: true, id: 'agent:main-x12' },
    ],
    ['is refused where that cannot be', 'fenced', {}, { accepted: false, reason: 'unavailable' }],
    [
      'is refused where it may be kept all the same',
      'volatile',
      { post: () => Promise.resolve({ mailed: 'kept', mail: 12 }) },
      { accepted: false, reason: 'unavailable' },
    ],
  ])(
    '[N-3] tells no id of a message that was not kept, as the next owner may have given it to another: it %s',
    async (_, kept, mail, expected) => {
      const store = Object.assign(new HeldStore(), { mail: { ...deafMail, ...mail }, handsOver: true });
      const seen: unknown[] = [];
      const { session, clock, facts } = await startKept(({ text }) => void seen.push(text), {}, store);
      const [running, waiting] = ['running', 'waiting'].map((text) => session.send({ kind: 'user', text }));
      await clock.settle();
      // The commit fails; the session is lost before it could be tried again.
      store.commit(kept);
      expect(await running).toMatchObject(expected);
      expect(await waiting).toMatchObject(expected);
      await clock.settle();
      store.commit('fenced');
      await clock.settle();
      expect(seen).toEqual([]);
      expect([session.waiting, session.state]).toEqual([0, 'idle']);
      expect(facts.of('session.turn_failed')).toEqual([]);
      expect(store.writes.filter((write) => /^(done|failed|put back) /.test(write))).toEqual([]);
    },
  );

  it('[N-3] knows no key of a message that it could not keep', async () => {
    const keys: unknown[] = [];
    const mail = { ...deafMail, post: ({ key }: OutgoingMail) => (keys.push(key), deafMail.post({} as OutgoingMail)) };
    const store = Object.assign(new HeldStore(), { mail, handsOver: true });
    const { session, clock } = await startKept(() => 'done', {}, store);
    const [first, second] = [1, 2].map(() => session.send({ kind: 'user' }, { key: 'k' }));
    await clock.settle();
    store.commit('volatile');
    const refused = { accepted: false, reason: 'unavailable' };
    expect([await first, await second]).toEqual([refused, refused]);
    // What may be kept all the same is not sent on: it might be twice.
    expect(keys).toEqual([]);
    const again = session.send({ kind: 'user' }, { key: 'k' });
    await clock.settle();
    store.commit();
    expect(await again).toMatchObject({ accepted: true, durable: true });
  });

  it('[N-7] is released by a drain once its turn has ended, where others can take it', async () => {
    const store = new HeldStore();
    store.handsOver = true;
    const { session, clock } = await startKept(() => 'done', {}, store);
    void session.send({ kind: 'user' });
    await clock.settle();
    session.drain({ until: 1_000, ended: () => undefined });
    expect(store.writes).not.toContain('release');
    await store.commitAll(clock);
    expect(store.writes.at(-1)).toBe('release');
    const idle = await startKept(() => 'done', {}, Object.assign(new HeldStore(), { handsOver: true }));
    idle.session.drain({ until: 1_000, ended: () => undefined });
    expect(idle.store.writes).toEqual(['release']);
  });

  it('[G-11] asks to be claimed again when it was taken over, and is not ended by what an older turn still writes', async () => {
    const store = new HeldStore();
    const { session, clock, tool } = startSession(
      { onMessage: (_message, turn) => turn.tool('kb', 'query') },
      undefined,
      {
        kept: true,
      },
    );
    let asked = 0;
    await session.open(store, { again: () => asked++, ask: () => Promise.resolve() });
    tool('kb', () => new Promise(() => undefined));
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    void session.send({ kind: 'user' });
    store.commit('fenced');
    // The call of the turn that was cut off is settled under the old fence.
    await clock.settle();
    expect([asked, session.unclaimed, store.writes.at(-1)]).toEqual([1, true, 'settle agent:main-1-1 error']);
    await session.open(store);
    store.commit('fenced');
    await clock.settle();
    expect([asked, session.unclaimed]).toEqual([1, false]);
  });

  it('[G-12] holds each call once after it was taken over and came back', async () => {
    const { session, clock, store, tool } = await startKept((_message, turn) => turn.tool('kb', 'query'));
    tool('kb', () => 'value');
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    const before = session.history;
    void session.send({ kind: 'user' });
    store.commit('fenced');
    await clock.settle();
    store.recovered = { history: before, lastTurn: 2, lastMessage: 2, lastSeq: 4 };
    await session.open(store);
    expect(session.history).toEqual(before);
  });

  it('[G-11] is claimed once however often it is opened at the same time', async () => {
    const store = new HeldStore();
    const { session } = startSession({ onMessage: () => 'done' }, undefined, { kept: true });
    await Promise.all([session.open(store), session.open(store)]);
    await session.open(store);
    expect(store.claims).toBe(1);
  });

  it('[G-11] stays with the runtime that has it while the store is out of order', async () => {
    const store = new HeldStore();
    store.held = 'other';
    const { session } = await startKept(() => 'done', {}, store);
    store.outOfOrder = true;
    await session.open(store);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'owned_elsewhere' });
  });

  it('refuses more senders before it is open than its mailbox holds', async () => {
    const { session } = startSession({ onMessage: () => 'done', mailbox: { limit: 2 } }, undefined, { kept: true });
    void session.send({ kind: 'user' });
    void session.send({ kind: 'user' });
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'mailbox_full' });
  });

  it('[I-5] refuses a message that another runtime was faster than, and does not know its key', async () => {
    const { session, clock, store } = await startKept(() => 'done');
    const first = session.send({ kind: 'user' }, { key: 'k' });
    const second = session.send({ kind: 'user' }, { key: 'k' });
    await clock.settle();
    store.commit('fenced');
    const refused = { accepted: false, reason: 'owned_elsewhere' };
    expect(await Promise.all([first, second])).toEqual([refused, refused]);
    await session.open(store);
    const again = session.send({ kind: 'user' }, { key: 'k' });
    await store.commitAll(clock);
    expect(await again).toMatchObject({ accepted: true, durable: true });
  });
});
