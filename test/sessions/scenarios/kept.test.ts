import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import type { HistoryEntry } from '../../../src/sessions/history.ts';
import type { SessionMail } from '../../../src/sessions/sessionMail.ts';
import type { MessageHandler, SessionOptions } from '../../../src/sessions/sessionOptions.ts';
import { HeldStore } from '../../support/heldStore.ts';
import { startSession } from '../../support/startSession.ts';

async function startKept(onMessage: MessageHandler, more: Partial<SessionOptions> = {}, store = new HeldStore()) {
  const started = startSession({ onMessage, ...more }, undefined, { kept: true });
  await started.session.open(store);
  return { ...started, store };
}

/** Notes when a promise resolves, without waiting for it. */
function noted<T>(promise: Promise<T>): { value: T | undefined } {
  const note: { value: T | undefined } = { value: undefined };
  void promise.then((value) => {
    note.value = value;
  });
  return note;
}

/** Of a store of several machines that is out of reach. */
const deafMail: SessionMail = {
  post: () => Promise.resolve({ mailed: 'not_kept' }),
  serve: () => undefined,
  look: () => Promise.resolve(),
  oldest: [],
};

const earlier: HistoryEntry = { type: 'message', turn: 7, id: 'agent:main-m4', message: { kind: 'user' }, at: 1 };

function withPast(): HeldStore {
  const store = new HeldStore();
  store.recovered = { history: [earlier], keys: [['k', 4]], lastMessage: 4, lastTurn: 7, lastSeq: 9 };
  return store;
}

describe('the past of a kept session', () => {
  it('[G-6] is not read when it is opened; once when its history is asked for', async () => {
    const { session, store } = await startKept(() => undefined, {}, withPast());
    expect(store.reads).toBe(0);
    expect([session.history, session.history]).toEqual([[earlier], [earlier]]);
    expect(store.reads).toBe(1);
  });

  it('[G-6] is read before its next message, which is numbered after it and known by its key', async () => {
    const { session, clock, store } = await startKept(() => undefined, {}, withPast());
    expect(await session.send({ kind: 'user' }, { key: 'k' })).toMatchObject({
      reason: 'duplicate',
      id: 'agent:main-m4',
    });
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    expect([store.writes, store.reads]).toEqual([['post 5', 'take 5', 'done 5'], 1]);
    expect(session.history.map(({ turn }) => turn)).toEqual([7, 8]);
  });

  it('[G-6] is read when it is opened while a message waits', async () => {
    const store = withPast();
    const waiting = { number: 4, message: { kind: 'user' }, key: undefined, at: 0, deliveries: 0 };
    store.recovered = { ...store.recovered, waiting: [waiting] };
    const { session, clock } = await startKept(() => undefined, {}, store);
    await store.commitAll(clock);
    expect(session.history.map(({ turn }) => turn)).toEqual([7, 8]);
  });

  it('[G-6] [I-5] that cannot be read holds up no message, takes no number twice and is not forgotten', async () => {
    const store = withPast();
    store.isUnreadable = true;
    const { session, clock } = await startKept(() => undefined, {}, store);
    expect(session.history).toEqual([]);
    for (let count = 0; count < 64; count++) void session.send({ kind: 'user' });
    await store.commitAll(clock);
    const number = Math.floor(clock.wallNow() / 1000);
    expect(store.writes[0]).toBe(`post ${number + 1}`);
    expect(store.writes.filter((write) => write.startsWith('forget'))).toEqual([]);
    store.isUnreadable = false;
    expect(session.history).toHaveLength(64);
  });

  it('[G-6] is read at the next look when the first one met a store that was out of order', async () => {
    const store = withPast();
    store.isUnreadable = true;
    const { session } = await startKept(() => undefined, {}, store);
    expect(session.history).toEqual([]);
    store.isUnreadable = false;
    expect(session.history).toEqual([earlier]);
  });
});

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

  it('[I-1] dispatches a tool call when it is in the ledger, not before', async () => {
    const { session, clock, store, tool } = await startKept((_message, turn) => turn.tool('kb', 'query'));
    let calls = 0;
    tool('kb', () => ++calls);
    void session.send({ kind: 'user' });
    await clock.settle();
    store.commit();
    await clock.settle();
    expect([calls, store.writes.at(-1)]).toEqual([0, 'open agent:main-1-1']);
    store.commit();
    await clock.settle();
    expect([calls, store.writes.slice(-2)]).toEqual([1, ['settle agent:main-1-1 ok', 'done 1']]);
  });

  it('[G-6] keeps with a call when it was made and when the watchdog ends it', async () => {
    const { session, clock, store } = await startKept((_message, turn) => turn.tool('kb', 'query'), {
      watchdog: { toolCallMs: 7_000 },
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    store.commit();
    await clock.settle();
    expect(store.calls).toMatchObject([{ at: clock.wallNow(), deadlineAt: clock.wallNow() + 7_000 }]);
  });

  it('[G-6] answers a call whose commit never comes, and does not dispatch it after that', async () => {
    const results: unknown[] = [];
    const { session, clock, store, tool } = await startKept(async (_message, turn) => {
      results.push(await turn.tool('kb', 'query'));
    });
    let calls = 0;
    tool('kb', () => ++calls);
    void session.send({ kind: 'user' });
    await clock.settle();
    store.commit();
    await clock.advance(300_000);
    expect(results).toMatchObject([{ synthetic: true, kind: 'watchdog', outcome: 'not_started' }]);
    store.commit();
    await clock.settle();
    expect(calls).toBe(0);
  });

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
        failure: { reason: 'taken_over' },
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

  it('[G-6] keeps a late result beside the one the agent got, and tells of it', async () => {
    let answer: (value: string) => void = () => undefined;
    const { session, clock, facts, store, tool } = await startKept((_message, turn) => turn.tool('kb', 'query'));
    tool('kb', () => new Promise((resolve) => (answer = resolve)), {
      policy: { limits: { attemptMs: 1000, idleMs: 1000 }, retry: { maxAttempts: 1 } },
    });
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    await clock.advance(1000);
    answer('late');
    await clock.settle();
    expect(store.writes.filter((write) => write.startsWith('settle'))).toEqual([
      'settle agent:main-1-1 error',
      'settle agent:main-1-1 ok',
    ]);
    expect(facts.of('session.late_result')).toMatchObject([{ call: 'agent:main-1-1', tool: 'query' }]);
  });

  it('[I-1] takes the late answer of an earlier attempt for no result', async () => {
    const answers: ((value: string) => void)[] = [];
    const { session, clock, facts, store, tool } = await startKept((_message, turn) => turn.tool('kb', 'query'));
    tool('kb', () => new Promise((resolve) => answers.push(resolve)), {
      policy: { limits: { attemptMs: 1000, idleMs: 1000 } },
      tools: { query: { effect: 'readOnly' } },
    });
    void session.send({ kind: 'user' });
    await store.commitAll(clock);
    await clock.advance(1100);
    answers[0]?.('too late');
    await clock.settle();
    expect(facts.of('session.late_result')).toEqual([]);
    expect(store.writes.filter((write) => write.startsWith('settle'))).toEqual([]);
    answers[1]?.('in time');
    await clock.settle();
    expect(session.history.at(-1)).toMatchObject({ result: { status: 'ok', value: 'in time' } });
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
    session.close();
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

  it('[I-5] calls a message a duplicate when the first one is committed, not before', async () => {
    const { session, clock, store } = await startKept(() => 'done');
    void session.send({ kind: 'user' }, { key: 'k' });
    const duplicate = noted(session.send({ kind: 'user' }, { key: 'k' }));
    await clock.settle();
    expect(duplicate.value).toBeUndefined();
    await store.commitAll(clock);
    expect(duplicate.value).toMatchObject({ reason: 'duplicate', id: 'agent:main-m1' });
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
    await session.open(store, () => asked++);
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
