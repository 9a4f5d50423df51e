import { describe, expect, it } from 'vitest';
import { startKept } from '../../support/keptSession.ts';

describe('a call of a kept session', () => {
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
});
