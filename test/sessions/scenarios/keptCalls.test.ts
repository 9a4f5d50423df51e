import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import { HeldStore } from '../../support/heldStore.ts';
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

/** When simulated clocks begin. */
const madeAt = Date.UTC(2026, 0, 1);

describe('a call that is given what an earlier process had kept', () => {
  /** Has an equal call of a message made, up to the commit of what it is given. */
  async function startGiven(late?: { readonly result: ToolResult; readonly at: number }) {
    const store = new HeldStore();
    const of = {
      session: 'agent:main',
      turn: 1,
      integration: 'kb',
      tool: 'query',
      input: { ref: 1 },
      effect: undefined,
    };
    store.recovered = {
      kept: [{ ...of, call: 'agent:main-1-1', startedAt: madeAt, until: madeAt, late }],
      lastMessage: 1,
      lastTurn: 1,
    };
    const results: ToolResult[] = [];
    const started = await startKept(
      async (_message, turn) => void results.push(await turn.tool('kb', 'query', { ref: 1 })),
      {},
      store,
    );
    let calls = 0;
    started.tool('kb', () => ++calls, { tools: { query: { keepMs: 600_000 } } });
    void started.session.send({ kind: 'user' });
    for (let commit = 0; commit < 2; commit++) {
      await started.clock.settle();
      store.commit();
    }
    await started.clock.settle();
    return { ...started, store, results, calls: () => calls };
  }

  it.each([
    ['its answer', { result: { status: 'ok', value: 'built', retries: 0 }, at: madeAt } as const, { value: 'built' }],
    ['that it is lost', undefined, { outcome: 'unknown' }],
  ])('[R-18] hears %s once that is on disk: after a kill no other one is given it', async (_, late, told) => {
    const { store, results, clock, calls } = await startGiven(late);
    expect(store.writes.slice(-2)).toEqual([
      'reconciled agent:main-1-1 done',
      `settle agent:main-2-1 ${late === undefined ? 'error' : 'ok'}`,
    ]);
    expect(results).toEqual([]);
    store.commit();
    await clock.settle();
    expect(results).toMatchObject([{ ...told, joined: true }]);
    expect(calls()).toBe(0);
  });

  it('[R-18] does not hear it where another gateway has the session, which gives it', async () => {
    const { store, results, clock } = await startGiven({
      result: { status: 'ok', value: 'built', retries: 0 },
      at: madeAt,
    });
    store.commit('fenced');
    await clock.settle();
    expect(results).toMatchObject([{ status: 'error', kind: 'cancelled', outcome: 'unknown' }]);
    expect(JSON.stringify(results)).not.toContain('built');
  });
});
