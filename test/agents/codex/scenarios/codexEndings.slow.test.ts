import { describe, expect, it } from 'vitest';
import { isSettled } from '../../../support/deferred.ts';
import { openThread, quickTurn, says, type Script, startCodex, startThread, type Step } from '../startCodex.ts';

const silent = [[]] as const;
const begins: Step = [['usual']];
const dies = ['kill', 'SIGKILL'] as const;
const answers = (result: unknown) => ['send', { id: '$id', result }] as const;
const refuses = (message: string) => ['send', { id: '$id', error: { code: -32_600, message } }] as const;
const ofThread = (method: string, params: object = {}) =>
  ['send', { method, params: { threadId: '$thread', ...params } }] as const;
const status = (type: string) => ofThread('thread/status/changed', { status: { type } });
const never = (): Promise<never> => new Promise(() => undefined);

/** What Codex says in a turn, one thing after the other. */
const course: Step = [
  ofThread('turn/started', { turn: { id: 'turn-1' } }),
  answers({ turn: { id: 'turn-1' } }),
  says.item('started', { type: 'commandExecution', id: 'c' }),
  says.asks(0),
  says.retry(),
  says.message('m'),
  says.idle,
];
const points = course.map((_, count) => [count, course.slice(0, count)] as const);

/** Two threads of one app-server, with a turn under way in the second. */
async function startTwo(script: Script) {
  const two = [[['usual']], [answers({ thread: { id: 'thread-2' } })]] as const;
  const started = await startThread({ 'thread/start': two, ...script });
  const other = (await openThread(started.codex)).send('other');
  for await (const event of other) if (event.type === 'turn.started') break;
  return { ...started, other };
}

describe('an app-server that dies in a turn', () => {
  it.each(points)('[F-2] [I-1] [I-3] after %i things were said ends it once, and leaves nothing', async (_, step) => {
    const script = { 'turn/start': [[...step, dies]] };
    const { gateway, codex, thread, clock, of } = await startThread(script, { approve: never });
    const turn = thread.send('hi');
    expect(await turn.outcome).toMatchObject({ failure: { reason: 'connection_lost', outcome: 'unknown' } });
    await turn.interrupt();
    expect(await turn.steer('more')).toMatchObject({ failure: { outcome: 'not_started' } });
    const again = await codex.resumeThread(thread.id);
    expect(again.ok && !again.value.busy && !thread.valid).toBe(true);
    expect(of('call.failed').filter(({ label }) => label === 'turn/start')).toHaveLength(1);
    await gateway.stop();
    // The queue of deadlines keeps one timer.
    expect(clock.pending).toBeLessThanOrEqual(1);
  });

  it('[F-2] [H-4] takes no late answer to what the one before asked', async () => {
    const asks: Step = [['usual'], says.asks(0)];
    const script = { 'turn/start': [asks], answer: [[says.completed]] };
    const decide: ((decision: 'accept') => void)[] = [];
    const approve = (): Promise<'accept'> => new Promise((resolve) => decide.push(resolve));
    const { codex, thread, wait, heard, heardOf, hear, of } = await startThread(script, { approve });
    const asked = wait('codex.app_server.approval.requested');
    const lost = thread.send('one').outcome;
    await asked;
    process.kill(of('process.started')[0]?.pid ?? 0, 'SIGKILL');
    await lost;
    hear();
    const again = await codex.resumeThread(thread.id);
    const requested = wait('codex.app_server.approval.requested');
    const outcome = again.ok ? again.value.send('two').outcome : undefined;
    await requested;
    decide[0]?.('accept');
    expect(await codex.health()).toMatchObject({ status: 'healthy' });
    expect(heard.filter((each: unknown) => typeof each === 'object' && each !== null && 'result' in each)).toEqual([]);
    decide[1]?.('accept');
    await heardOf('answer');
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[I-3] is gone when the gateway has stopped', async () => {
    const { gateway, thread, clock } = await startThread({ 'turn/interrupt': [[dies]] });
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'turn.started') break;
    await turn.interrupt();
    await gateway.stop();
    expect(clock.pending).toBeLessThanOrEqual(1);
  });
});

describe('a turn that is given up', () => {
  it.each(points.slice(1))('[R-8] [I-2] after %i things were said leaves its thread usable', async (_, step) => {
    const { thread, codex, heardOf } = await startThread({ 'turn/start': [step, quickTurn] }, { approve: never });
    const turn = thread.send('hi');
    await heardOf('turn/start');
    await codex.health();
    await turn.interrupt();
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(await thread.send('next').outcome).toMatchObject({ ok: true });
  });

  it('[I-2] and that Codex knows nothing of any more does not cost the app-server its life', async () => {
    const { codex, thread, clock, other, heardOf } = await startTwo({
      'turn/start': [begins, begins, quickTurn],
      'turn/interrupt': [[refuses('no active turn to interrupt')], begins],
    });
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'turn.started') break;
    const released = turn.interrupt();
    await heardOf('turn/interrupt');
    await codex.health();
    await clock.advance(5000);
    await released;
    expect(await isSettled(other.outcome)).toBe(false);
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
    await other.interrupt();
  });

  it('[F-22] is interrupted however many requests wait', async () => {
    const { codex, thread, heardOf } = await startThread({ 'x/y': silent });
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'turn.started') break;
    for (let count = 0; count < 100; count++) void codex.request('x/y');
    await heardOf('x/y', 100);
    await turn.interrupt();
    expect(codex.state).toBe('ready');
  });

  it('[F-21] before its input was refused leaves its thread usable', async () => {
    const refused = ['send', { id: 3, error: { code: -32_600, message: 'no' } }] as const;
    const { codex, thread, clock, heardOf } = await startThread({
      'turn/start': [[], quickTurn],
      'x/y': [[refused, answers(1)]],
    });
    const turn = thread.send('hi');
    await heardOf('turn/start');
    const released = turn.interrupt();
    await clock.advance(5000);
    await released;
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { reason: 'scope_busy' } });
    await codex.request('x/y');
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
  });
});

describe('a thread', () => {
  it('[I-1] that Codex puts away ends its turn, and no other', async () => {
    const { codex, thread, clock, other, wait } = await startTwo({
      'turn/start': [begins, [['usual'], ofThread('thread/closed')]],
    });
    const closed = wait('codex.app_server.notification.received', {
      where: ({ method }) => method === 'thread/closed',
    });
    const outcome = thread.send('hi').outcome;
    await closed;
    await clock.advance(4999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'protocol' } });
    expect([await isSettled(other.outcome), codex.state, thread.valid]).toEqual([false, 'ready', false]);
    await other.interrupt();
  });

  it('[I-1] that was idle and is active again goes on with its turn', async () => {
    const { codex, thread, clock } = await startThread({
      'turn/start': [[['usual'], status('idle'), status('active')]],
      'x/y': [[says.completed, answers(1)]],
    });
    const turn = thread.send('hi');
    for await (const event of turn) if (event.type === 'notice') break;
    await clock.advance(5000);
    await codex.request('x/y');
    expect(await turn.outcome).toMatchObject({ ok: true });
  });

  it('[F-21] is not busy with a turn that ended while it was resumed', async () => {
    const turns = [{ id: 'turn-1', status: 'inProgress' }];
    const resumed = { id: 4, result: { thread: { id: 'thread-1', turns, status: { type: 'active' } } } };
    const ended = {
      method: 'turn/completed',
      params: { threadId: 'thread-1', turn: { ...turns[0], status: 'completed' } },
    };
    const { codex, thread } = await startThread({
      'x/y': [[ofThread('turn/started', { turn: { id: 'turn-1' } }), answers(1)]],
      'thread/resume': [[['raw', `${JSON.stringify(resumed)}\n${JSON.stringify(ended)}\n`]]],
    });
    await codex.request('x/y');
    expect(thread.busy).toBe(true);
    const again = await codex.resumeThread(thread.id);
    expect(again.ok && again.value.busy).toBe(false);
  });

  it('[I-2] of an app-server that is being closed takes no input', async () => {
    const { codex, thread, heardOf, heard, until } = await startTwo({ 'turn/interrupt': silent });
    const closed = codex.close();
    await heardOf('turn/interrupt');
    const late = thread.send('late').outcome;
    await until(closed);
    expect(await late).toMatchObject({ failure: { kind: 'unavailable', outcome: 'not_started' } });
    expect(heard.filter(({ method }) => method === 'turn/start')).toHaveLength(1);
  });
});

describe('the app-server', () => {
  it('[V-9] is started once, also for who asks for it when they hear of its start', async () => {
    const { gateway, codex, of } = await startCodex();
    const more: ReturnType<typeof codex.startThread>[] = [];
    gateway.on('process.started', () => {
      if (more.length < 3) void more.push(codex.startThread());
    });
    expect(await codex.startThread()).toMatchObject({ ok: true });
    for (const each of more) expect(await each).toMatchObject({ ok: true });
    expect(of('process.started')).toHaveLength(1);
  });

  it('[I-2] is another one for who comes while one is closed in its handshake', async () => {
    const { codex, heardOf, hear, of, until } = await startCodex({ initialize: silent });
    const first = codex.startThread();
    await heardOf('initialize');
    const closed = codex.close();
    hear();
    const second = codex.startThread();
    expect(await first).toMatchObject({ failure: { kind: 'cancelled' } });
    await heardOf('initialize', 2);
    await until(Promise.all([closed, codex.close()]));
    expect(await second).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(of('process.exited')).toHaveLength(2);
  });

  it('[F-2] that comes while one is closed has subscriptions of its own', async () => {
    const { codex, thread, heardOf, until, heard, hear } = await startThread({ 'turn/interrupt': silent });
    void thread.send('hi');
    await heardOf('turn/start');
    const closed = codex.close();
    await heardOf('turn/interrupt');
    expect(await codex.startThread()).toMatchObject({ ok: true });
    await until(closed);
    heard.length = 0;
    hear();
    await codex.health();
    expect(heard.map(({ method }) => method)).toEqual(['thread/list']);
  });

  it('[F-7] that answers neither a request nor a list of threads is hung, and is killed', async () => {
    const { codex, clock, heardOf, wait } = await startCodex({ 'thread/start': silent, 'thread/list': silent });
    const outcome = codex.startThread();
    await heardOf('thread/start');
    await clock.advance(30_000);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout' } });
    await heardOf('thread/list');
    const stopped = wait('codex.app_server.connection.stop');
    await clock.advance(4999);
    expect(codex.state).toBe('ready');
    await clock.advance(1);
    expect(await stopped).toMatchObject({ reason: 'killed' });
  });

  it('[I-1] is ended by the stop of a gateway with all that waits for it', async () => {
    const { gateway, codex, thread, clock, wait, of, until } = await startThread(
      { 'turn/start': [[['usual'], says.asks(0)]], 'thread/start': [begins, []], 'turn/interrupt': silent },
      { approve: never },
    );
    const requested = wait('codex.app_server.approval.requested');
    const turn = thread.send('hi');
    await requested;
    const others = Promise.all([codex.startThread(), turn.steer('x')]);
    await until(gateway.stop());
    expect(await turn.outcome).toMatchObject({ failure: { reason: 'stopped' } });
    expect(await others).toHaveLength(2);
    expect(of('approval.completed')).toMatchObject([{ decision: 'decline' }]);
    expect(clock.pending).toBeLessThanOrEqual(1);
  });
});

describe('what is told of the wire', () => {
  it('[O-8] [F-16] leaves out what a piece of a message says', async () => {
    const piece = '{"method":"item/started","params":{"item":{"type":"userMessage","text":"my words';
    const { thread, facts, logged } = await startThread({
      'turn/start': [[['usual'], ['raw', piece], ['leave', 1]]],
    });
    await thread.send('hi').outcome;
    expect(JSON.stringify([facts, logged])).not.toContain('my words');
    expect(logged.join('\n')).toContain('{"method":"item/started","params": [left out]');
  });

  it('[O-8] leaves out commands and reasons in the wire tap', async () => {
    const lines: string[] = [];
    const asks = says.asks(0, 'item/commandExecution/requestApproval', { command: 'cat words', reason: 'more words' });
    const script = { 'turn/start': [[['usual'], asks]], answer: [[says.completed]] } as const;
    const { thread } = await startThread(script, { tap: ({ line }) => void lines.push(line) });
    await thread.send('hi').outcome;
    expect(lines.join('\n')).toContain('"command":"[9 characters]"');
    expect(lines.join('\n')).not.toMatch(/cat words|more words/);
  });
});
