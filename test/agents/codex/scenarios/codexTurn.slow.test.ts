import { describe, expect, it } from 'vitest';
import type { CodexTurn, CodexTurnEvent } from '../../../../agents/codex/index.ts';
import { unwrap } from '../../../../src/index.ts';
import { isSettled } from '../../../support/deferred.ts';
import { openThread, quickTurn, says, startThread, type Step } from '../startCodex.ts';

const gather = async (turn: CodexTurn): Promise<CodexTurnEvent[]> => {
  const events: CodexTurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
};

const turns = (...steps: Step[]) => ({ 'turn/start': steps });
const begins: Step = [['usual']];

describe('a turn', () => {
  it('[F-20] streams what it does in order, and ends with its last message', async () => {
    const { thread } = await startThread(
      turns([['usual'], says.delta('do'), says.delta('ne'), says.message('done'), says.completed]),
    );
    const turn = thread.send('hi');
    const events = await gather(turn);
    expect(events.map(({ type }) => type)).toEqual(['turn.started', 'text.delta', 'text.delta', 'item.completed']);
    expect(await turn.outcome).toMatchObject({
      ok: true,
      value: { text: 'done', turn: 'turn-1', thread: 'thread-1', effects: 'none', items: 1, retries: 0 },
    });
    expect(turn.id).toBe('turn-1');
  });

  it('[U-4] says what it was given: text, parts, and the parameters of its own', async () => {
    const { thread, heardOf } = await startThread();
    await thread.send('hi', { model: 'm', effort: 'low', params: { cwd: '/w' } }).outcome;
    await thread.send([{ type: 'localImage', path: '/x.png' }]).outcome;
    expect((await heardOf('turn/start', 2)).map(({ params }) => params)).toEqual([
      {
        threadId: 'thread-1',
        input: [{ type: 'text', text: 'hi', text_elements: [] }],
        model: 'm',
        effort: 'low',
        cwd: '/w',
      },
      { threadId: 'thread-1', input: [{ type: 'localImage', path: '/x.png' }] },
    ]);
  });

  it('counts its tokens', async () => {
    const usage = { total: { totalTokens: 9, inputTokens: 5, outputTokens: 4 }, last: {} };
    const tokens = [
      'send',
      { method: 'thread/tokenUsage/updated', params: { threadId: '$thread', turnId: '$turn', tokenUsage: usage } },
    ] as const;
    const { thread } = await startThread(turns([['usual'], tokens, says.completed]));
    expect(await thread.send('hi').outcome).toMatchObject({
      value: { tokens: { total: 9, input: 5, output: 4, reasoning: 0 } },
    });
  });

  it('[F-21] is refused while another is under way in its thread, and nothing is sent', async () => {
    const { codex, thread, heardOf, heard } = await startThread(turns(begins));
    const first = thread.send('one');
    await heardOf('turn/start');
    expect(thread.busy).toBe(true);
    const busy = { kind: 'too_many_requests', reason: 'scope_busy', outcome: 'not_started' };
    expect(await thread.send('two').outcome).toMatchObject({ failure: busy });
    expect(await codex.request('turn/start', { threadId: thread.id, input: [] })).toMatchObject({ failure: busy });
    expect(heard.filter(({ method }) => method === 'turn/start')).toHaveLength(1);
    await first.interrupt();
  });

  it('[F-21] is refused while a request of somebody’s own begins one, and the other way round', async () => {
    const { codex, thread, heard, heardOf } = await startThread(turns([], [['usual'], says.completed]));
    const own = { threadId: thread.id, input: [] };
    const controller = new AbortController();
    const first = codex.request('turn/start', own, { signal: controller.signal });
    const busy = { failure: { reason: 'scope_busy', outcome: 'not_started' } };
    expect(await codex.request('turn/start', own)).toMatchObject(busy);
    expect(await thread.send('hi').outcome).toMatchObject(busy);
    await heardOf('turn/start');
    controller.abort();
    await first;
    const again = unwrap(await codex.resumeThread(thread.id));
    const sent = again.send('hi').outcome;
    expect(await codex.request('turn/start', own)).toMatchObject(busy);
    expect(await sent).toMatchObject({ ok: true });
    expect(heard.filter(({ method }) => method === 'turn/start')).toHaveLength(2);
  });

  it('[F-21] is busy with one that a request of somebody’s own began, until that has ended', async () => {
    const ends = { 'turn/start': [begins], 'x/y': [[says.completed, ['send', { id: '$id', result: 1 }]] as const] };
    const { codex, thread } = await startThread(ends);
    expect(await codex.request('turn/start', { threadId: thread.id, input: [] })).toMatchObject({ ok: true });
    expect(thread.busy).toBe(true);
    await codex.request('x/y');
    expect(thread.busy).toBe(false);
  });

  it.each<[string, Step, boolean]>([
    ['answered, and not told yet', [['send', { id: '$id', result: { turn: { id: '$turn' } } }]], true],
    [
      'told, and over, before it was answered',
      [
        ['send', { method: 'turn/started', params: { threadId: '$thread', turn: { id: '$turn' } } }],
        says.completed,
        ['send', { id: '$id', result: { turn: { id: '$turn' } } }],
      ],
      false,
    ],
    ['refused', [['send', { id: '$id', error: { code: -32_600, message: 'no' } }]], false],
  ])('[F-21] knows of one that a request of somebody’s own began when it is %s', async (_, step, isBusy) => {
    const { codex, thread } = await startThread(turns(step, [['usual'], says.completed]));
    await codex.request('turn/start', { threadId: thread.id, input: [] });
    expect(thread.busy).toBe(isBusy);
    expect(await thread.send('hi').outcome).toMatchObject({ ok: !isBusy });
  });

  it('[F-21] [R-8] is refused after a request of somebody’s own was given up, until it is known what became of it', async () => {
    const { codex, thread, heardOf } = await startThread(turns([]));
    const controller = new AbortController();
    const asked = codex.request('turn/start', { threadId: thread.id, input: [] }, { signal: controller.signal });
    await heardOf('turn/start');
    controller.abort();
    expect(await asked).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { reason: 'scope_busy' } });
  });

  it('[F-21] is refused until it is known what became of a request of somebody’s own', async () => {
    const { codex, thread, clock, heardOf } = await startThread({ 'turn/start': [[]] });
    const asked = codex.request('turn/start', { threadId: thread.id, input: [] });
    await heardOf('turn/start');
    await clock.advance(300_000);
    expect(await asked).toMatchObject({ failure: { kind: 'timeout' } });
    const { outcome } = thread.send('hi');
    expect(await outcome).toMatchObject({ failure: { reason: 'scope_busy' } });
    expect(unwrap(await codex.resumeThread(thread.id)).busy).toBe(false);
  });

  it('[F-21] is refused while Codex says that one of somebody else is under way', async () => {
    const foreign = [
      'send',
      { method: 'turn/started', params: { threadId: '$thread', turn: { id: 'other' } } },
    ] as const;
    const { codex, thread, heard } = await startThread({ 'x/y': [[foreign, ['send', { id: '$id', result: 1 }]]] });
    await codex.request('x/y');
    expect(thread.busy).toBe(true);
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { kind: 'too_many_requests' } });
    expect(heard.filter(({ method }) => method === 'turn/start')).toEqual([]);
  });

  it('[F-21] can follow another', async () => {
    const { thread } = await startThread();
    for (const input of ['one', 'two']) expect(await thread.send(input).outcome).toMatchObject({ ok: true });
  });

  it('[F-24] that nobody reads keeps the last thousand events, and its outcome', async () => {
    const flood = ['flood', { times: 3000, message: says.delta('x')[1] }] as const;
    const { thread } = await startThread(turns([['usual'], flood, says.message('done'), says.completed]));
    const turn = thread.send('hi');
    expect(await turn.outcome).toMatchObject({ ok: true, value: { text: 'done' } });
    expect(turn.dropped).toBe(2002);
    expect(await gather(turn)).toHaveLength(1000);
  });

  it('[R-6] makes one attempt whatever the policy says: no input is sent twice', async () => {
    const overloaded = [
      ['send', { id: '$id', error: { code: -32_001, message: 'Server overloaded; retry later.' } }],
    ] as const;
    const { thread, heard } = await startThread(turns(overloaded), { policy: { retry: { maxAttempts: 4 } } });
    expect(await thread.send('hi').outcome).toMatchObject({
      failure: { kind: 'overloaded', attempts: 1, retryable: true },
    });
    expect(heard.filter(({ method }) => method === 'turn/start').length).toBeLessThanOrEqual(1);
  });

  it('[R-11] may be answered by a fallback', async () => {
    const { thread } = await startThread(turns([['usual'], says.failed({ message: 'no' })]));
    const value = {
      thread: '',
      turn: '',
      text: 'from elsewhere',
      tokens: undefined,
      items: 0,
      effects: 'none',
      toolCalls: 0,
      retries: 0,
    } as const;
    const outcome = await thread.send('hi', {
      fallback: (input) => ({ ...value, turn: typeof input === 'string' ? input : '' }),
    }).outcome;
    expect(outcome).toMatchObject({ ok: true, value: { text: 'from elsewhere', turn: 'hi' } });
  });

  it('is refused when it says nothing or in another way than documented', async () => {
    const { thread } = await startThread();
    expect(() => thread.send('')).toThrow('Expected `input` to be a non-empty text');
    expect(() => thread.send(5 as never)).toThrow('got 5');
    expect(() => thread.send('hi', { stall: 5 } as never)).toThrow('Unknown option `options.stall`');
    expect(() => thread.send('hi', { idleMs: -1 })).toThrow('Expected `options.idleMs`');
  });
});

describe('a turn whose stream Codex tries again', () => {
  it('[F-20] tells what is said again once, and that it was tried again', async () => {
    const said = (id: string) =>
      [
        says.item('started', { type: 'agentMessage', id, text: '' }),
        says.delta('do', id),
        says.delta('ne', id),
        says.message('done', id),
      ] as const;
    const { thread } = await startThread(
      turns([['usual'], ...said('m1'), says.retry(), ...said('m2'), says.retry(), ...said('m3'), says.completed]),
    );
    const turn = thread.send('hi');
    const events = await gather(turn);
    expect(events.map(({ type }) => type)).toEqual([
      'turn.started',
      'item.started',
      'text.delta',
      'text.delta',
      'item.completed',
      'retrying',
      'retrying',
    ]);
    expect(await turn.outcome).toMatchObject({ value: { items: 1, retries: 2, text: 'done' } });
  });
});

describe('a turn that fails', () => {
  it.each([
    [
      {
        message: 'exceeded retry limit, last status: 429 Too Many Requests',
        codexErrorInfo: { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
      },
      { kind: 'rate_limit', status: 429 },
    ],
    [
      {
        message: 'unexpected status 503 Service Unavailable: x',
        codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 503 } },
      },
      { kind: 'transient', status: 503 },
    ],
    [
      { message: 'You’ve hit your usage limit.', codexErrorInfo: 'usageLimitExceeded' },
      { kind: 'quota', code: 'usageLimitExceeded' },
    ],
    [
      { message: 'something new', codexErrorInfo: 'brandNew' },
      { kind: 'unknown', code: 'brandNew' },
    ],
  ])('[R-5] is judged by what Codex says of it: %j', async (error, failure) => {
    const { thread } = await startThread(turns([['usual'], says.failed(error)]));
    expect(await thread.send('hi').outcome).toMatchObject({
      ok: false,
      failure: { ...failure, outcome: 'failed', message: error.message },
    });
  });

  it('[R-12] after a command has an unknown outcome; after one that was declined it has not', async () => {
    const ran = (status: string) => says.item('completed', { type: 'commandExecution', id: 'c', status });
    const failed = says.failed({ message: 'no' });
    const { thread } = await startThread(
      turns([['usual'], ran('completed'), failed], [['usual'], ran('declined'), failed]),
    );
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { outcome: 'unknown' } });
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { outcome: 'failed' } });
  });

  it('[I-2] leaves its thread usable, and [I-4] one record', async () => {
    const { thread, of } = await startThread(turns([['usual'], says.failed({ message: 'no' })], quickTurn));
    expect(await thread.send('hi').outcome).toMatchObject({ ok: false });
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
    expect(of('call.failed')).toHaveLength(1);
  });
});

describe('the circuit', () => {
  it('[M-4] [M-3] opens after five turns that fail in a row, whatever threads are begun in between; a list of threads closes it', async () => {
    const failing: Step = [['usual'], says.failed({ message: 'HTTP 503', codexErrorInfo: 'other' })];
    const steps = [failing, failing, failing, failing, failing, quickTurn];
    const { codex, thread, clock, heard } = await startThread({ 'turn/start': steps });
    for (let turn = 0; turn < 5; turn++) {
      expect(codex.breaker.state).toBe('closed');
      expect(await thread.send('hi').outcome).toMatchObject({ failure: { kind: 'transient' } });
      await openThread(codex);
    }
    expect(codex.breaker.state).toBe('open');
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { kind: 'circuit_open', attempts: 0 } });
    await clock.advance(60_000);
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
    const methods = heard.map(({ method }) => method);
    expect(methods.lastIndexOf('thread/list')).toBeGreaterThan(methods.lastIndexOf('thread/start'));
    expect(methods.filter((method) => method === 'turn/start')).toHaveLength(6);
  });
});

describe('a turn that does not end', () => {
  it('[I-1] is ended after 300 s without progress and interrupted; the thread goes on', async () => {
    const { thread, clock, heardOf } = await startThread(turns([['usual'], says.delta('so')], quickTurn));
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'text.delta') break;
    await clock.advance(299_000);
    expect(await isSettled(turn.outcome)).toBe(false);
    await clock.advance(1000);
    expect(await turn.outcome).toMatchObject({
      failure: { kind: 'timeout', reason: 'idle_timeout', outcome: 'failed' },
    });
    expect(await heardOf('turn/interrupt')).toMatchObject([{ params: { threadId: 'thread-1', turnId: 'turn-1' } }]);
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
  });

  it('[I-1] though Codex goes on saying that it tries again: that is no progress, and the reason is told', async () => {
    const retry = says.retry('Reconnecting... waiting for network', 'Connection failed');
    const { codex, thread, clock, wait } = await startThread({
      'turn/start': [begins],
      'x/y': [[retry, ['send', { id: '$id', result: 1 }]]],
    });
    const begun = wait('codex.app_server.notification.received', { where: ({ method }) => method === 'turn/started' });
    const turn = thread.send('hi', { idleMs: 100_000 });
    await begun;
    for (const passed of [60_000, 39_999]) {
      await clock.advance(passed);
      await codex.request('x/y');
    }
    await clock.advance(1);
    const outcome = await turn.outcome;
    expect(outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
    expect(!outcome.ok && outcome.failure.message).toContain('Reconnecting... waiting for network (Connection failed)');
  });

  it('[G-7] though it goes on saying nothing: an empty piece of an answer is no progress', async () => {
    const { codex, thread, clock } = await startThread({
      'turn/start': [begins],
      'x/y': [[says.delta(''), ['send', { id: '$id', result: 1 }]]],
    });
    const turn = thread.send('hi', { idleMs: 10_000 });
    for await (const event of turn) if (event.type === 'turn.started') break;
    // All that began the turn is read by then: it is progress, whenever it is read.
    await codex.request('x/y');
    await clock.advance(6000);
    await codex.request('x/y');
    await clock.advance(3999);
    expect(await isSettled(turn.outcome)).toBe(false);
    await clock.advance(1);
    expect(await turn.outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
  });

  it('[I-1] though it makes progress is ended at its overall limit', async () => {
    const { codex, thread, clock } = await startThread({
      'turn/start': [begins],
      'x/y': [[says.delta('x'), ['send', { id: '$id', result: 1 }]]],
    });
    const turn = thread.send('hi', { idleMs: 10_000, overallMs: 25_000 });
    for await (const event of turn) if (event.type === 'turn.started') break;
    for (let passed = 0; passed < 24_000; passed += 8000) {
      await clock.advance(8000);
      await codex.request('x/y');
    }
    expect(await isSettled(turn.outcome)).toBe(false);
    await clock.advance(1000);
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'attempt_timeout' } });
  });

  it('[I-1] and is not let go of by Codex costs the app-server its life', async () => {
    const { codex, thread, clock, heardOf, wait } = await startThread({ ...turns(begins), 'turn/interrupt': [[]] });
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'turn.started') break;
    const interrupted = turn.interrupt();
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await heardOf('turn/interrupt');
    await clock.advance(4999);
    expect(codex.state).toBe('ready');
    const stopped = wait('codex.app_server.connection.stop');
    await clock.advance(1);
    expect(await stopped).toMatchObject({ reason: 'killed' });
    await interrupted;
    expect(await codex.resumeThread(thread.id)).toMatchObject({ ok: true });
  });

  it('[I-1] because the app-server answers nothing any more costs that its life', async () => {
    const { codex, thread, clock, heardOf, wait } = await startThread({ 'turn/start': [[]], 'thread/list': [[]] });
    const outcome = thread.send('hi', { idleMs: 10_000 }).outcome;
    await heardOf('turn/start');
    await clock.advance(10_000);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    await clock.advance(5000);
    await heardOf('thread/list');
    const stopped = wait('codex.app_server.connection.stop');
    await clock.advance(4999);
    expect(codex.state).toBe('ready');
    await clock.advance(1);
    expect(await stopped).toMatchObject({ reason: 'killed' });
  });

  it('[I-1] because Codex lost its last word fails 5 s after its thread is idle', async () => {
    const { thread, clock, wait } = await startThread(turns([['usual'], says.idle], quickTurn));
    const idle = wait('codex.app_server.notification.received', {
      where: ({ method }) => method === 'thread/status/changed',
    });
    const outcome = thread.send('hi').outcome;
    await idle;
    await clock.advance(4999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'protocol' } });
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
  });
});

describe('interrupting a turn', () => {
  it('[R-8] ends it at once, and has Codex end it', async () => {
    const { thread, heardOf } = await startThread(turns(begins));
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'turn.started') break;
    await turn.interrupt(new Error('enough'));
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled', message: 'Cancelled: enough' } });
    expect(await heardOf('turn/interrupt')).toHaveLength(1);
    expect(thread.busy).toBe(false);
  });

  it('[I-2] lets the next turn of its thread begin when Codex has let go of it', async () => {
    const { thread, heardOf, heard } = await startThread(turns(begins, quickTurn));
    const first = thread.send('one');
    for await (const event of first) if (event.type === 'turn.started') break;
    void first.interrupt();
    expect(await thread.send('two').outcome).toMatchObject({ ok: true });
    await heardOf('turn/start', 2);
    const methods = heard.map(({ method }) => method).filter((method) => method?.startsWith('turn/'));
    expect(methods).toEqual(['turn/start', 'turn/interrupt', 'turn/start']);
  });

  it('[R-8] before it has a name waits for that, and interrupts it then', async () => {
    const { thread, clock, heardOf, codex } = await startThread({
      'turn/start': [[]],
      'x/y': [
        [
          ['send', { id: '$id', result: 1 }],
          ['send', { method: 'turn/started', params: { threadId: '$thread', turn: { id: 'late' } } }],
        ],
      ],
    });
    const controller = new AbortController();
    const turn = thread.send('hi', { signal: controller.signal });
    await heardOf('turn/start');
    controller.abort();
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    await clock.advance(5000);
    expect(codex.state).toBe('ready');
    await codex.request('x/y');
    expect(await heardOf('turn/interrupt')).toMatchObject([{ params: { turnId: 'late' } }]);
  });

  it('[R-8] that never was sent sends nothing', async () => {
    const { thread, heard } = await startThread();
    expect(await thread.send('hi', { signal: AbortSignal.abort() }).outcome).toMatchObject({
      failure: { kind: 'cancelled', attempts: 0 },
    });
    expect(heard.filter(({ method }) => method === 'turn/start')).toEqual([]);
  });

  it('by another client is a cancelled turn', async () => {
    const interrupted = [
      'send',
      { method: 'turn/completed', params: { threadId: '$thread', turn: { id: '$turn', status: 'interrupted' } } },
    ] as const;
    const { thread } = await startThread(turns([['usual'], interrupted]));
    expect(await thread.send('hi').outcome).toMatchObject({
      failure: { kind: 'cancelled', message: 'The turn was interrupted' },
    });
  });
});

describe('steering a turn', () => {
  it('says more to the turn that is under way', async () => {
    const { thread, heardOf } = await startThread(turns(begins));
    const turn = thread.send('hi');
    expect(await turn.steer('and be quick')).toEqual({ ok: true, value: undefined });
    expect(await heardOf('turn/steer')).toMatchObject([
      { params: { threadId: 'thread-1', expectedTurnId: 'turn-1', input: [{ type: 'text', text: 'and be quick' }] } },
    ]);
    await turn.interrupt();
  });

  it('is refused once the turn has ended', async () => {
    const { thread, heard } = await startThread();
    const turn = thread.send('hi');
    await turn.outcome;
    expect(await turn.steer('more')).toMatchObject({ failure: { kind: 'permanent', outcome: 'not_started' } });
    expect(heard.filter(({ method }) => method === 'turn/steer')).toEqual([]);
  });
});

describe('threads', () => {
  it('of one app-server have turns at once', async () => {
    const { codex, thread } = await startThread({
      'thread/start': [[['usual']], [['send', { id: '$id', result: { thread: { id: 'thread-2' } } }]]],
      'turn/start': [begins, quickTurn],
    });
    const other = await openThread(codex);
    const first = thread.send('one');
    const second = other.send('two');
    for await (const event of second) if (event.type === 'turn.started') break;
    expect(other.busy && thread.busy).toBe(true);
    await Promise.all([first.interrupt(), second.interrupt()]);
  });
});
