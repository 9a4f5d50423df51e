import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../src/sessions/acceptance.ts';
import type { MessageHandler, SessionOptions } from '../../src/sessions/sessionOptions.ts';
import { HeldStore } from '../support/heldStore.ts';
import { startSession } from '../support/startSession.ts';

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
    expect([calls, store.writes.at(-1)]).toEqual([0, 'open agent:main-1-1']);
    store.commit();
    await clock.settle();
    expect([calls, store.writes.slice(-2)]).toEqual([1, ['settle agent:main-1-1 ok', 'done 1']]);
  });

  it('[G-6] answers a call whose commit never comes, and does not dispatch it after that', async () => {
    const results: unknown[] = [];
    const { session, clock, store, tool } = await startKept(async (_message, turn) => {
      results.push(await turn.tool('kb', 'query'));
    });
    let calls = 0;
    tool('kb', () => ++calls);
    void session.send({ kind: 'user' });
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
    store.commit();
    const waits = session.send({ kind: 'user' });
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
    expect(await acceptance).toMatchObject({ accepted: true });
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
    await clock.settle();
    const acceptance = session.send({ kind: 'new' });
    store.commit();
    expect(await acceptance).toMatchObject({ id: 'agent:main-m8' });
    await clock.settle();
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
    await clock.settle();
    store.commit();
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
    });
    void session.send({ kind: 'user' });
    await clock.settle();
    store.commit();
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
    await clock.settle();
    expect(store.writes).toContain('forget 55');
  });
});
