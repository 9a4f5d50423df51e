import { describe, expect, it } from 'vitest';
import { startSession } from '../support/startSession.ts';

describe('why a session waits', () => {
  it('[L-5] is for nothing while it is idle', () => {
    const { session } = startSession({ onMessage: () => undefined });
    expect(session.why()).toEqual({
      session: 'agent:main',
      state: 'idle',
      waiting: 0,
      heldElsewhere: false,
      calls: [],
      questions: [],
      rules: [],
    });
  });

  it('[L-5] is a call in flight: its silence, the limit that ends the attempt, and the watchdog', async () => {
    const { session, clock, tool } = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
    tool('kb', () => new Promise(() => undefined));
    void session.send({ kind: 'user' });
    void session.send({ kind: 'user' });
    await clock.advance(10_000);
    expect(session.why()).toMatchObject({
      state: 'processing',
      waiting: 1,
      turn: { turn: 1, message: 'agent:main-m1', kind: 'user', delivery: 1, sinceMs: 10_000 },
      calls: [
        {
          call: 'agent:main-1-1',
          integration: 'kb',
          tool: 'query',
          sinceMs: 10_000,
          progress: {
            phase: 'in_flight',
            attempt: 1,
            silentMs: 10_000,
            next: { rule: 'idle_timeout', inMs: 110_000 },
          },
          target: { state: 'calling', circuit: 'closed' },
        },
      ],
      next: { rule: 'idle_timeout', inMs: 110_000, what: 'query' },
    });
  });

  it('[L-5] tells all times in whole ms', async () => {
    const { session, clock, tool } = startSession({
      onMessage: (_message, turn) =>
        Promise.all([turn.tool('kb', 'query'), turn.ask('sure?', () => new Promise(() => {}))]),
    });
    tool('kb', () => new Promise(() => undefined));
    void session.send({ kind: 'user' });
    await clock.advance(1000.4);
    const why = session.why();
    expect(why).toMatchObject({ turn: { sinceMs: 1000 }, calls: [{ sinceMs: 1000, progress: { silentMs: 1000 } }] });
    const times = [...JSON.stringify(why).matchAll(/Ms":([\d.]+)/g)].map(([, ms]) => Number(ms));
    expect(times.length).toBeGreaterThan(5);
    expect(times.filter((ms) => !Number.isInteger(ms))).toEqual([]);
  });

  it('[L-5] names the watchdog as next where no limit of the call comes before it', async () => {
    const { session, clock, tool } = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
    tool('kb', () => new Promise(() => undefined), { policy: { limits: { idleMs: Infinity, attemptMs: Infinity } } });
    void session.send({ kind: 'user' });
    await clock.advance(10_000);
    expect(session.why().next).toEqual({
      id: 'agent:main-1-1:watchdog',
      rule: 'tool_call',
      inMs: 290_000,
      what: 'query',
      call: 'agent:main-1-1',
    });
  });

  it('[L-5] is the next attempt of a call in backoff, with what its last one met', async () => {
    const { session, clock, tool } = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
    tool('kb', () => Promise.reject(new Error('HTTP 503')));
    void session.send({ kind: 'user' });
    await clock.advance(40);
    expect(session.why().rules).toEqual([
      { id: 'agent:main-1-1:1:backoff', rule: 'next_attempt', inMs: 60, what: 'query', call: 'agent:main-1-1' },
      { id: 'agent:main-1-1:watchdog', rule: 'tool_call', inMs: 299_960, what: 'query', call: 'agent:main-1-1' },
    ]);
    expect(session.why().next).toEqual(session.why().rules[0]);
    expect(session.why().calls).toMatchObject([
      {
        progress: {
          phase: 'backoff',
          attempt: 1,
          next: { rule: 'next_attempt', inMs: 60 },
          lastFailure: { kind: 'transient', message: 'HTTP 503' },
        },
      },
    ]);
  });

  it('[O-13] tells of a pending call its attempts that failed, its waits, and how long it has been at this one', async () => {
    const { session, clock, tool } = startSession({ onMessage: (_message, turn) => turn.tool('kb', 'query') });
    let attempt = 0;
    tool('kb', () => {
      attempt += 1;
      return attempt === 1 ? Promise.reject(new Error('HTTP 503')) : new Promise(() => undefined);
    });
    void session.send({ kind: 'user' });
    await clock.advance(1000);
    expect(session.why().calls[0]?.progress).toMatchObject({
      phase: 'in_flight',
      attempt: 2,
      phaseMs: 900,
      trail: [
        { state: 'attempt', tookMs: 0, endedAgoMs: 1000, failure: { kind: 'transient', message: 'HTTP 503' } },
        { state: 'backoff', tookMs: 100, endedAgoMs: 900 },
      ],
    });
  });

  it('[O-13] tells of the calls of the turn that have their result: how they ended, after which attempts, and how long ago', async () => {
    const { session, clock, tool } = startSession({
      async onMessage(_message, turn) {
        await turn.tool('kb', 'query');
        await turn.tool('kb', 'refuse');
        await new Promise(() => undefined);
      },
    });
    let attempts = 0;
    tool('kb', ({ tool: called }: { tool: string }) => {
      if (called === 'refuse') throw Object.assign(new Error('bad request'), { status: 400 });
      attempts += 1;
      return attempts < 3 ? Promise.reject(new Error('HTTP 503')) : Promise.resolve('found');
    });
    void session.send({ kind: 'user' });
    await clock.advance(10_000);
    const [found, refused] = session.why().ended ?? [];
    expect(found).toMatchObject({ integration: 'kb', tool: 'query', ok: true, attempts: 3 });
    expect(found?.trail.map(({ state }) => state)).toEqual(['attempt', 'backoff', 'attempt', 'backoff']);
    expect(refused).toMatchObject({ ok: false, attempts: 1, failure: { kind: 'permanent', message: 'bad request' } });
    expect(session.why().calls).toEqual([]);
  });

  it('[O-13] tells of at most 50 calls that are over, the last ones', async () => {
    const { session, clock, tool } = startSession({
      async onMessage(_message, turn) {
        for (let call = 0; call < 60; call++) await turn.tool('kb', `query-${call}`);
        await new Promise(() => undefined);
      },
    });
    tool('kb', () => Promise.resolve('found'));
    void session.send({ kind: 'user' });
    await clock.advance(1000);
    const ended = session.why().ended ?? [];
    expect([ended.length, ended[0]?.tool, ended[49]?.tool]).toEqual([50, 'query-10', 'query-59']);
  });

  it('[O-13] tells how long the message had waited for its turn', async () => {
    const { session, clock } = startSession({
      onMessage: ({ text }) =>
        text === 'slow'
          ? new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), 3000))
          : new Promise(() => undefined),
    });
    void session.send({ kind: 'user', text: 'slow' });
    void session.send({ kind: 'user', text: 'next' });
    await clock.advance(4000);
    expect(session.why().turn).toMatchObject({ turn: 2, waitedMs: 3000, sinceMs: 1000 });
  });

  it('[L-5] is a circuit that is open, and when it may be tried', async () => {
    const { session, clock, tool } = startSession({ onMessage: (_message, turn) => turn.tool('slow', 'query') });
    const path = tool('slow', () => new Promise(() => undefined));
    void session.send({ kind: 'user' });
    await clock.settle();
    path.link.isolate();
    expect(session.why().calls).toMatchObject([{ target: { state: 'open', circuit: 'isolated' } }]);
  });

  it('[L-5] is the handler itself, and the limit of the turn', async () => {
    const { session, clock } = startSession({ onMessage: () => new Promise(() => undefined) });
    void session.send({ kind: 'user' });
    await clock.advance(60_000);
    expect(session.why()).toMatchObject({ calls: [], next: { rule: 'turn', inMs: 540_000, what: 'turn 1' } });
  });

  it('[L-5] is a person, and the deadline of the question', async () => {
    const { session, clock } = startSession({
      onMessage: (_message, turn) => turn.ask('delete?', () => new Promise(() => undefined), { overallMs: 120_000 }),
    });
    void session.send({ kind: 'user' });
    await clock.advance(20_000);
    expect(session.why()).toMatchObject({
      questions: [{ what: 'delete?', sinceMs: 20_000, deadlineInMs: 100_000 }],
      next: { rule: 'question', inMs: 100_000, what: 'delete?' },
    });
  });
});
