import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import type { MessageHandler } from '../../../src/sessions/sessionOptions.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { noted, startKept } from '../../support/keptSession.ts';
import { startSession } from '../../support/startSession.ts';

describe('a kept session', () => {
  it('[I-5] acknowledges a message when it is committed, not before', async () => {
    const { session, clock, store } = await startKept(() => 'done');
    const acceptance = noted(session.send({ kind: 'user' }));
    await clock.settle();
    expect(acceptance.value).toBeUndefined();
    store.commit();
    await clock.settle();
    expect(acceptance.value).toMatchObject({ accepted: true, durable: true });
  });

  it('[I-5] is one like any other once there is no store: nothing is asked of its data, and it waits for no claim', async () => {
    const { session, clock } = startSession({ onMessage: () => 'done' }, undefined, { kept: true });
    const data = { amount: 1n };
    expect(() => session.send({ kind: 'user', data })).toThrow('to be JSON');
    const early = noted(session.send({ kind: 'user' }));
    await clock.settle();
    expect([early.value, session.unclaimed]).toEqual([undefined, true]);
    session.goesUnkept();
    await clock.settle();
    expect([early.value, session.unclaimed]).toMatchObject([{ accepted: true, durable: false }, false]);
    session.startFailed();
    session.startsAgain();
    expect(await session.send({ kind: 'user', data })).toMatchObject({ accepted: true, durable: false });
  });

  it('[I-5] says so when the store is out of order', async () => {
    const { session, clock, store } = await startKept(() => 'done');
    const acceptance = noted(session.send({ kind: 'user' }));
    store.commit('volatile');
    await clock.settle();
    expect(acceptance.value).toMatchObject({ accepted: true, durable: false });
  });

  it('[I-5] tells the end of a message when it is committed, not before', async () => {
    const { session, clock, store } = await startKept(() => 'done');
    const acceptance = session.send({ kind: 'user' });
    await clock.settle();
    store.commit();
    const given = (await acceptance) as Extract<Acceptance, { accepted: true }>;
    const outcome = noted(given.processed);
    await clock.settle();
    expect([outcome.value, store.writes]).toEqual([undefined, ['post 1', 'take 1', 'done 1']]);
    store.commit();
    await clock.settle();
    expect(outcome.value).toEqual({ ok: true, value: 'done' });
  });

  it('[G-11] delivers what was accepted before first, whatever the limit of the mailbox', async () => {
    const store = new HeldStore();
    store.recovered = {
      waiting: [1, 2, 3].map((number) => ({
        number,
        message: { kind: `old-${number}` },
        key: undefined,
        at: 0,
        deliveries: 0,
      })),
      lastMessage: 7,
    };
    const kinds: string[] = [];
    const { session, clock } = await startKept(({ kind }) => kinds.push(kind), { mailbox: { limit: 1 } }, store);
    await store.commitAll(clock);
    const acceptance = session.send({ kind: 'new' });
    await store.commitAll(clock);
    expect(await acceptance).toMatchObject({ id: 'agent:main-m8' });
    expect(kinds).toEqual(['old-1', 'old-2', 'old-3', 'new']);
  });

  it('[G-9] keeps a heartbeat that a newer one has replaced as dropped', async () => {
    const { session, clock, store } = await startKept(() => new Promise(() => undefined), {
      mailbox: { limit: 1, heartbeats: 'drop_oldest' },
    });
    for (let beat = 0; beat < 3; beat++) {
      void session.heartbeat();
      await clock.settle();
    }
    expect(store.writes).toEqual(['post 1', 'take 1', 'post 2', 'post 3', 'dropped 2']);
  });

  it('forgets in the store what its history no longer holds', async () => {
    const { session, clock, store } = await startKept(() => undefined, { historyLimit: 10 });
    for (let message = 0; message < 64; message++) void session.send({ kind: 'user' });
    await store.commitAll(clock);
    expect(store.writes).toContain('forget 55');
  });

  it('[G-14] begins a turn when its delivery is counted, not before', async () => {
    let begun = 0;
    const { session, clock, store } = await startKept(() => ++begun);
    void session.send({ kind: 'user' });
    await clock.settle();
    expect([begun, store.writes]).toEqual([0, ['post 1', 'take 1']]);
    store.commit();
    await clock.settle();
    expect(begun).toBe(1);
  });

  it('[I-5] puts a message back that is stopped before its turn has begun', async () => {
    let begun = 0;
    const { session, clock, store } = await startKept(() => ++begun);
    void session.send({ kind: 'user' });
    await clock.settle();
    session.stop();
    await store.commitAll(clock);
    expect([begun, store.writes.at(-1)]).toEqual([0, 'put back 1']);
  });

  it('[G-8] never begins a turn that stalls before its delivery is counted', async () => {
    let begun = 0;
    const { session, clock, store } = await startKept(() => ++begun);
    void session.send({ kind: 'user' });
    await clock.advance(600_000);
    expect([session.state, store.writes.at(-1)]).toEqual(['idle', 'failed 1']);
    await store.commitAll(clock);
    expect(begun).toBe(0);
  });

  it('[I-5] calls a message a duplicate when the first one is committed, not before', async () => {
    const { session, clock, store } = await startKept(() => 'done');
    void session.send({ kind: 'user' }, { key: 'k' });
    const duplicate = noted(session.send({ kind: 'user' }, { key: 'k' }));
    await clock.settle();
    expect(duplicate.value).toBeUndefined();
    await store.commitAll(clock);
    expect(duplicate.value).toMatchObject({ reason: 'duplicate', id: 'agent:main-m1' });
  });
});

describe('a kept session whose store is out of order', () => {
  const startUnclaimed = async (onMessage: MessageHandler) => {
    const store = new HeldStore();
    store.outOfOrder = true;
    return startKept(onMessage, {}, store);
  };

  it('[I-5] takes messages, which are not durable', async () => {
    const { session, store } = await startUnclaimed(() => 'done');
    expect(await session.send({ kind: 'user' })).toMatchObject({ accepted: true, durable: false });
    expect([session.unclaimed, store.writes]).toEqual([true, []]);
  });

  it('[G-11] delivers what was accepted before once it can be claimed, and then keeps what comes', async () => {
    const seen: unknown[] = [];
    const { session, clock, store } = await startUnclaimed(({ text }) => seen.push(text));
    void session.send({ kind: 'user', text: 'volatile' });
    await clock.settle();
    store.outOfOrder = false;
    const old = { number: 1, message: { kind: 'user', text: 'old' }, key: undefined, at: 0, deliveries: 0 };
    store.recovered = { waiting: [old], lastMessage: 1, lastTurn: 1, lastSeq: 1 };
    await session.open(store);
    await store.commitAll(clock);
    const acceptance = session.send({ kind: 'user', text: 'new' });
    await store.commitAll(clock);
    expect(seen).toEqual(['volatile', 'old', 'new']);
    expect(await acceptance).toMatchObject({ durable: true });
  });

  it('[I-5] [G-12] takes nothing it has not kept for what an earlier run left', async () => {
    const { session, clock, store, tool } = await startUnclaimed((_message, turn) => turn.tool('kb', 'query'));
    let answer: (value: string) => void = () => undefined;
    tool('kb', () => new Promise((resolve) => (answer = resolve)));
    const acceptance = (await session.send({ kind: 'user' })) as Extract<Acceptance, { accepted: true }>;
    await clock.settle();
    store.outOfOrder = false;
    const at = clock.wallNow();
    store.recovered = {
      history: [{ type: 'message', turn: 1, id: 'agent:main-m1', message: { kind: 'old' }, at }],
      ...{ lastMessage: 1, lastTurn: 1, lastSeq: 1 },
    };
    await session.open(store);
    answer('value');
    expect(await acceptance.processed).toMatchObject({ ok: true });
    expect(store.writes).toEqual([]);
    expect(session.history.map(({ type, turn }) => [type, turn > 1])).toEqual([
      ['message', false],
      ['message', true],
      ['tool_call', true],
      ['tool_result', true],
    ]);
    expect(acceptance.id).not.toBe('agent:main-m1');
  });
});
