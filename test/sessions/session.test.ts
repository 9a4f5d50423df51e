import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../src/sessions/acceptance.ts';
import type { ToolResult } from '../../src/sessions/toolResult.ts';
import type { Turn } from '../../src/sessions/turn.ts';
import { isSettled } from '../support/deferred.ts';
import { fault } from '../support/startIntegration.ts';
import type { ToolCallRetryOptions } from '../../src/policy/toolCallRetry.ts';
import { startSession } from '../support/startSession.ts';

const never = (): Promise<never> => new Promise(() => undefined);

async function processed(acceptance: Promise<Acceptance>) {
  const accepted = await acceptance;
  if (!accepted.accepted) throw new Error(`refused: ${accepted.reason}`);
  return accepted.processed;
}

/** A session whose every message calls the tool `kb.query` once and returns its result. */
function startCaller(options: Partial<Parameters<typeof startSession>[0]> = {}) {
  const order: string[] = [];
  const results: ToolResult[] = [];
  const started = startSession({
    ...options,
    onMessage: async (message, turn) => {
      order.push(message.kind);
      if (message.kind === 'heartbeat') return 'alive';
      const result = await turn.tool('kb', 'query', { text: message.text });
      results.push(result);
      return result;
    },
  });
  return { ...started, order, results };
}

describe('a tool call of a session', () => {
  it('[G-1] is tried again while the gateway restarts, and succeeds', async () => {
    const { session, clock, tool, results } = startCaller();
    let calls = 0;
    tool('kb', () => (++calls === 1 ? Promise.reject(new Error('gateway closed (1012): service restart')) : 'found'));
    const done = processed(session.send({ kind: 'user', text: 'hello' }));
    await clock.advance(100);
    expect((await done).ok).toBe(true);
    expect(results).toEqual([{ status: 'ok', value: 'found', retries: 1 }]);
  });

  it('[G-2] fails at once with a permanent error', async () => {
    const { session, tool, results } = startCaller();
    tool('kb', () => Promise.reject(new Error('No session found with label: main')));
    await processed(session.send({ kind: 'user', text: 'hello' }));
    expect(results).toEqual([
      { status: 'error', error: 'No session found with label: main', retries: 0, recoverable: false },
    ]);
  });

  it('[G-3] records the error after three transient failures (waits of 100 and 500 ms), and the session continues', async () => {
    const { session, clock, tool, results } = startCaller();
    let calls = 0;
    tool('kb', () => {
      calls++;
      return Promise.reject(new Error('gateway closed (1006): abnormal closure'));
    });
    const done = processed(session.send({ kind: 'user', text: 'hello' }));
    await clock.advance(599);
    expect(calls).toBe(2);
    await clock.advance(1);
    await done;
    expect(calls).toBe(3);
    expect(results).toMatchObject([{ status: 'error', retries: 2 }]);
    expect(session.history.filter(({ type }) => type === 'tool_result')).toMatchObject([{ result: { retries: 2 } }]);
    expect(await processed(session.heartbeat())).toEqual({ ok: true, value: 'alive' });
  });

  it('[R-6] is retried by its session alone, whatever the policy of its integration', async () => {
    const { session, clock, tool } = startCaller();
    let calls = 0;
    tool(
      'kb',
      () => {
        calls++;
        return Promise.reject(fault('transient'));
      },
      { policy: { retry: { maxAttempts: 9 }, breaker: { consecutiveFailures: 100 } } },
    );
    await session.send({ kind: 'user' });
    await clock.advance(60_000);
    expect(calls).toBe(3);
  });

  it('[G-5] leaves the agent free to call another tool and to ask for the operator', async () => {
    const started = startSession({
      onMessage: async (_message, turn) => {
        const first = await turn.tool('broken', 'query');
        if (first.status === 'error') turn.escalate(`broken: ${first.error}`);
        return turn.tool('fine', 'query');
      },
    });
    started.tool('broken', () => Promise.reject(fault('permanent', { outcome: 'failed' })));
    started.tool('fine', () => 'found');
    expect(await processed(started.session.send({ kind: 'user' }))).toEqual({
      ok: true,
      value: { status: 'ok', value: 'found', retries: 0 },
    });
    expect(started.facts.of('session.escalated')).toMatchObject([{ reason: 'broken: permanent fault' }]);
  });

  it('[G-6] [G-13] pending for 5 min in all is answered by a synthetic error result, not before', async () => {
    const { session, clock, tool, results, facts } = startCaller();
    tool('kb', never, { policy: { limits: { idleMs: Infinity, attemptMs: Infinity, overallMs: Infinity } } });
    const done = processed(session.send({ kind: 'user' }));
    await clock.advance(299_999);
    expect(results).toEqual([]);
    await clock.advance(1);
    expect((await done).ok).toBe(true);
    expect(results).toMatchObject([
      { status: 'error', synthetic: true, kind: 'watchdog', outcome: 'unknown', attempts: 1, elapsedMs: 300_000 },
    ]);
    expect(facts.of('session.watchdog_fired')).toMatchObject([{ rule: 'tool_call', tool: 'query', limitMs: 300_000 }]);
  });

  it('[G-6] is ended in time with 10,000 others pending', async () => {
    const started = startSession({
      onMessage: (_message, turn) => Promise.all(Array.from({ length: 10_000 }, () => turn.tool('kb', 'query'))),
    });
    started.tool('kb', never, {
      policy: { maxInFlight: 10_000, limits: { idleMs: 1e9, attemptMs: 1e9, overallMs: 1e9 } },
    });
    const done = processed(started.session.send({ kind: 'user' }));
    await started.clock.advance(300_000);
    const outcome = await done;
    expect(outcome.ok && (outcome.value as ToolResult[]).every(({ status }) => status === 'error')).toBe(true);
    expect(started.clock.pending).toBeLessThanOrEqual(2);
  });

  it('[G-7] with its own declared limit may run longer than the watchdog allows', async () => {
    const { session, clock, tool, results } = startCaller();
    tool('kb', never, {
      policy: { limits: { idleMs: Infinity, attemptMs: Infinity, overallMs: Infinity } },
      tools: { query: { longRunningMs: 1_200_000 } },
    });
    await session.send({ kind: 'user' });
    await clock.advance(1_199_999);
    expect(results).toEqual([]);
    await clock.advance(1);
    expect(results).toMatchObject([{ synthetic: true, kind: 'watchdog' }]);
  });

  it('[G-7] is not kept alive by progress beyond the watchdog', async () => {
    const { session, clock, tool, results } = startCaller();
    tool('kb', (_input, { touch }) => {
      const beat = (): void => {
        touch();
        clock.setTimeout(beat, 1000);
      };
      beat();
      return never();
    });
    await session.send({ kind: 'user' });
    await clock.advance(300_000);
    expect(results).toMatchObject([{ synthetic: true, kind: 'watchdog' }]);
  });

  it('[G-13] that is refused before dispatch says that it was not started and when to try again', async () => {
    const { session, clock, tool, results } = startCaller();
    const path = tool('kb', () => Promise.reject(fault('quota', { outcome: 'failed', retryAfterMs: 600_000 })));
    void path;
    await processed(session.send({ kind: 'user' }));
    await processed(session.send({ kind: 'user' }));
    await clock.settle();
    expect(results[1]).toMatchObject({
      synthetic: true,
      kind: 'circuit_open',
      outcome: 'not_started',
      retryAfterMs: 600_000,
    });
  });

  it('to an integration that does not exist answers with an error that names it', async () => {
    const { session, results } = startCaller();
    await processed(session.send({ kind: 'user' }));
    expect(results).toMatchObject([{ status: 'error', retries: 0 }]);
  });
});

describe('the mailbox of a session', () => {
  it('[G-4] queues a heartbeat that arrives during a retry, and processes it after it, in order', async () => {
    const { session, clock, tool, order } = startCaller();
    let calls = 0;
    tool('kb', () => (++calls < 3 ? Promise.reject(fault('transient')) : 'found'));
    void session.send({ kind: 'user' });
    await clock.advance(50);
    const beat = processed(session.heartbeat());
    void session.send({ kind: 'second' });
    expect(await isSettled(beat)).toBe(false);
    await clock.advance(600);
    expect(order).toEqual(['user', 'heartbeat', 'second']);
    expect((await beat).ok).toBe(true);
  });

  it('[G-9] takes 1,000 messages and refuses the next, telling it once', async () => {
    const { session, tool, facts } = startCaller();
    tool('kb', never);
    await session.send({ kind: 'user' });
    await Promise.resolve();
    for (let index = 0; index < 1000; index++)
      expect(await session.send({ kind: 'user' })).toMatchObject({ accepted: true });
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'mailbox_full' });
    await session.send({ kind: 'user' });
    expect(facts.of('session.refused')).toHaveLength(1);
  });

  it('[G-9] drops the oldest heartbeat for a newer one where configured', async () => {
    const { session, tool, facts, order, clock } = startCaller({ mailbox: { limit: 2, heartbeats: 'drop_oldest' } });
    tool('kb', () => 'found');
    const waits = [session.heartbeat(), session.send({ kind: 'user' }), session.heartbeat()];
    const [first] = await Promise.all(waits);
    await clock.settle();
    expect(order).toEqual(['user', 'heartbeat']);
    expect(first?.accepted && (await first.processed)).toMatchObject({
      ok: false,
      failure: { outcome: 'not_started' },
    });
    expect(facts.of('session.heartbeat_dropped')).toMatchObject([{ reason: 'drop_oldest' }]);
  });

  it('[G-9] lets a heartbeat join one that waits where configured', async () => {
    const { session, tool, order, clock } = startCaller({ mailbox: { coalesceHeartbeats: true } });
    tool('kb', () => 'found');
    await Promise.all([session.heartbeat(), session.heartbeat(), session.heartbeat()]);
    await clock.settle();
    expect(order).toEqual(['heartbeat']);
  });

  it('says that what it accepts does not survive the process', async () => {
    const { session } = startCaller();
    expect(await session.heartbeat()).toMatchObject({ accepted: true, durable: false });
  });
});

describe('a turn of a session', () => {
  it('[I-2] that throws ends, and the session processes its next message', async () => {
    const { session } = startSession({
      onMessage: ({ kind }) => {
        if (kind === 'bad') throw new Error('handler bug');
        return kind;
      },
    });
    const bad = processed(session.send({ kind: 'bad' }));
    const good = processed(session.send({ kind: 'good' }));
    expect(await bad).toMatchObject({ ok: false, failure: { message: 'handler bug' } });
    expect(await good).toEqual({ ok: true, value: 'good' });
  });

  it('[G-8] without progress for 10 min is aborted, and the session takes its next message', async () => {
    let hung: Turn | undefined;
    const { session, clock, facts } = startSession({
      onMessage: ({ kind }, turn) => {
        if (kind !== 'hangs') return 'went on';
        hung = turn;
        return never();
      },
    });
    const hanging = processed(session.send({ kind: 'hangs' }));
    const next = processed(session.send({ kind: 'next' }));
    await clock.advance(599_999);
    expect(hung?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(hung?.signal.aborted).toBe(true);
    await clock.advance(5000);
    expect(await hanging).toMatchObject({ ok: false, failure: { kind: 'watchdog' } });
    expect(await next).toEqual({ ok: true, value: 'went on' });
    expect(facts.of('session.recovered')).toMatchObject([{ turn: 1, releasedAfterMs: 5000 }]);
  });

  it('[G-8] is fenced once released: its tool calls are refused, its end changes nothing', async () => {
    let comeBack: (value: string) => void = () => undefined;
    let hung: Turn | undefined;
    const { session, clock, facts, tool } = startSession({
      onMessage: ({ kind }, turn) => {
        if (kind !== 'hangs') return kind;
        hung = turn;
        return new Promise((resolve) => {
          comeBack = resolve;
        });
      },
    });
    let calls = 0;
    tool('kb', () => ++calls);
    void session.send({ kind: 'hangs' });
    await clock.advance(605_000);
    comeBack('too late');
    expect(await hung?.tool('kb', 'query')).toMatchObject({ synthetic: true, outcome: 'not_started' });
    await clock.settle();
    expect(calls).toBe(0);
    expect(facts.of('session.turn_ended')).toHaveLength(1);
    expect(await processed(session.send({ kind: 'next' }))).toEqual({ ok: true, value: 'next' });
  });

  it('[G-7] is kept alive by progress, and by nothing that only arrives', async () => {
    let turn: Turn | undefined;
    const { session, clock } = startSession({
      onMessage: (_message, running) => {
        turn = running;
        return never();
      },
    });
    void session.send({ kind: 'hangs' });
    await clock.advance(599_000);
    turn?.touch();
    await clock.advance(599_000);
    expect(turn?.signal.aborted).toBe(false);
    void session.heartbeat();
    void session.send({ kind: 'more' });
    await clock.advance(1000);
    expect(turn?.signal.aborted).toBe(true);
  });

  it('[G-6] [G-8] is charged only with time in which the event loop ran', async () => {
    const { session, clock, facts } = startSession({ onMessage: never });
    void session.send({ kind: 'hangs' });
    await clock.advance(100_000);
    clock.stall(900_000);
    await clock.advance(499_999);
    expect(facts.of('session.watchdog_fired')).toEqual([]);
    await clock.advance(1);
    expect(facts.of('session.watchdog_fired')).toMatchObject([{ rule: 'turn' }]);
  });

  it('[G-6] has its tool call end by the watchdog whether the event loop ran or not, and no breaker counts that', async () => {
    const { session, clock, tool, facts } = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
    const path = tool('kb', never, { policy: { breaker: { consecutiveFailures: 1 } } });
    void session.send({ kind: 'user' });
    await clock.advance(1000);
    clock.stall(299_000);
    await clock.advance(0);
    expect(facts.of('session.watchdog_fired')).toMatchObject([{ rule: 'tool_call' }]);
    expect(path.link.isOpen).toBe(false);
  });

  it('[G-8] is not judged while a tool call is pending: that has its own limit', async () => {
    const { session, clock, tool, facts } = startSession({
      onMessage: (_message, turn) => turn.tool('kb', 'query'),
    });
    tool('kb', never, {
      policy: { limits: { idleMs: Infinity, attemptMs: Infinity, overallMs: Infinity } },
      tools: { query: { longRunningMs: 3_600_000 } },
    });
    void session.send({ kind: 'long' });
    await clock.advance(3_000_000);
    expect(facts.of('session.watchdog_fired')).toEqual([]);
  });

  it.each([
    [500, {}, 'closed'],
    [60_000, {}, 'open'],
    [500, { query: { longRunningMs: 500 } }, 'open'],
  ] as const)(
    '[G-6] [M-4] blames no integration for the limit of %i ms that a handler gave its call, where its own (%o) is longer',
    async (longRunningMs, tools, state) => {
      const { session, clock, tool } = startSession({
        onMessage: (_message, turn) => turn.tool('kb', 'query', {}, { longRunningMs }),
      });
      const path = tool('kb', never, {
        policy: { limits: { idleMs: 120_000, attemptMs: 60_000 }, breaker: { consecutiveFailures: 1 } },
        tools,
      });
      void session.send({ kind: 'user' });
      await clock.advance(60_000);
      expect(path.link.isOpen ? 'open' : 'closed').toBe(state);
    },
  );

  it('[G-8] whose recovery fails is ended by restarting the session, which keeps its mailbox', async () => {
    const started = startSession({ onMessage: ({ kind }) => (kind === 'hangs' ? never() : kind) });
    const hanging = processed(started.session.send({ kind: 'hangs' }));
    const next = processed(started.session.send({ kind: 'next' }));
    await started.clock.settle();
    started.incarnate();
    expect(await hanging).toMatchObject({ ok: false, failure: { kind: 'crash' } });
    expect(await next).toEqual({ ok: true, value: 'next' });
  });
});

describe('a session that stops', () => {
  it('[I-1] [I-3] ends its messages and its calls, and leaves no deadline behind', async () => {
    const { session, tool, clock, deadlines, incarnate } = startCaller();
    const path = tool('kb', never);
    const running = processed(session.send({ kind: 'user' }));
    const waiting = processed(session.send({ kind: 'user' }));
    await clock.settle();
    void incarnate;
    session.stop();
    session.ended();
    path.stop();
    expect(await running).toMatchObject({ ok: false });
    expect(await waiting).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'stopped' } });
    expect(deadlines.size).toBe(0);
    expect(await session.send({ kind: 'user' })).toEqual({ accepted: false, reason: 'stopped' });
  });
});

describe('the history of a session', () => {
  it('[G-13] holds exactly one result for each tool call', async () => {
    const { session, clock, tool } = startCaller();
    tool('kb', () => 'found');
    await processed(session.send({ kind: 'user' }));
    tool('kb', never);
    void session.send({ kind: 'user' });
    await clock.advance(300_000);
    const calls = session.history.filter(({ type }) => type === 'tool_call');
    const results = session.history.filter(({ type }) => type === 'tool_result');
    expect(results.map((entry) => entry.type === 'tool_result' && entry.call)).toEqual(
      calls.map((entry) => entry.type === 'tool_call' && entry.call),
    );
    expect(results).toHaveLength(2);
  });
});

describe('the retries of a session', () => {
  it('[R-6] stay within what the integration allows', async () => {
    const { session, clock, tool, results } = startCaller();
    let calls = 0;
    tool(
      'kb',
      () => {
        calls++;
        return Promise.reject(fault('transient'));
      },
      { policy: { retry: { maxAttempts: 1 } } },
    );
    await session.send({ kind: 'user' });
    await clock.advance(60_000);
    expect(calls).toBe(1);
    expect(results).toMatchObject([{ status: 'error', retries: 0 }]);
  });
});

describe('the patterns of a session', () => {
  const callWith = async (message: string, toolCallRetry: ToolCallRetryOptions) => {
    const { session, clock, tool } = startSession(
      { onMessage: (_message, turn) => turn.tool('kb', 'query') },
      undefined,
      {
        toolCallRetry,
      },
    );
    let calls = 0;
    tool('kb', () => {
      calls++;
      throw new Error(message);
    });
    void session.send({ kind: 'user' });
    await clock.advance(10_000);
    return calls;
  };

  it('[G-10] add to what is retried, and do not make a permanent error worth it', async () => {
    const transientPatterns = ['warming up', 'not found'];
    expect(await callWith('The model is warming up', {})).toBe(1);
    expect(await callWith('The model is Warming Up', { transientPatterns })).toBe(3);
    expect(await callWith('HTTP 404: not found', { transientPatterns })).toBe(1);
  });
});

it('a turn has for its handler nothing of the session but what it is given to use', async () => {
  let fields: readonly string[] = [];
  const { session, clock } = startSession({ onMessage: (_message, turn) => void (fields = Object.keys(turn)) });
  await session.send({ kind: 'user' });
  await clock.advance(1);
  expect(fields).toContain('tool');
  for (const name of ['calls', 'questions', 'end']) expect(fields).not.toContain(name);
});
