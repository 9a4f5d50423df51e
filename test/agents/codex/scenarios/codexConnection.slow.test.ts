import { describe, expect, it } from 'vitest';
import { codexKind } from '../../../../agents/codex/codex.ts';
import { createGateway } from '../../../../src/index.ts';
import { isSettled } from '../../../support/deferred.ts';
import { openThread, quickTurn, says, startCodex, startThread } from '../startCodex.ts';

const silent = [[]] as const;

describe('an app-server that does not come up', () => {
  it('[F-1] because there is no such command is not tried again', async () => {
    const { codex, of } = await startCodex({}, { command: '/no/such/codex' });
    const outcome = await codex.startThread();
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'spawn', reason: 'codex_not_found', attempts: 1 } });
    expect(codex.state).toBe('crashed');
    expect(of('codex.app_server.connection.error')).toHaveLength(1);
  });

  it('[F-1] because its directory is missing says so, and not that Codex is', async () => {
    const { codex } = await startCodex({}, { cwd: '/no/such/directory' });
    const outcome = await codex.connect();
    expect(outcome).toMatchObject({ failure: { reason: 'startup_failed' } });
    expect(!outcome.ok && outcome.failure.message).toContain('/no/such/directory');
  });

  it('[F-1] [F-17] because it exits says its exit code and what it wrote to stderr', async () => {
    const { codex, of } = await startCodex({
      start: [
        ['stderr', 'no licence\n'],
        ['exit', 3],
      ],
    });
    const outcome = await codex.connect();
    expect(outcome).toMatchObject({ failure: { kind: 'crash', reason: 'startup_failed', code: 3, attempts: 1 } });
    expect(!outcome.ok && outcome.failure.message).toContain('no licence');
    expect(of('process.started')).toHaveLength(1);
  });

  it('[F-4] because it is silent for 10 s is killed', async () => {
    const { codex, clock, heardOf, wait, of } = await startCodex({ initialize: silent });
    const outcome = codex.connect();
    await heardOf('initialize');
    await clock.advance(9999);
    expect(await isSettled(outcome)).toBe(false);
    const stopped = wait('codex.app_server.connection.stop');
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'init_timeout' } });
    expect(await stopped).toMatchObject({ reason: 'killed' });
    expect(of('process.exited')).toMatchObject([{ signal: 'SIGTERM' }]);
  });

  it('[F-4] that answers is told that it is initialized, before anything else', async () => {
    const { codex, heardOf, heard } = await startCodex();
    expect(await codex.connect()).toMatchObject({ ok: true, value: { userAgent: 'fake/1' } });
    await heardOf('initialized');
    expect(heard.map(({ method }) => method)).toEqual(['initialize', 'initialized']);
    expect(heard[0]?.params).toMatchObject({
      clientInfo: { name: 'unwedge' },
      capabilities: { experimentalApi: false },
    });
  });

  it('[F-5] because it refuses is killed, and says why', async () => {
    const refuses = [['send', { id: '$id', error: { code: -32_600, message: 'too old' } }]] as const;
    const { codex, wait } = await startCodex({ initialize: [refuses] });
    const stopped = wait('codex.app_server.connection.stop');
    const outcome = await codex.connect();
    expect(outcome).toMatchObject({ failure: { kind: 'protocol', reason: 'init_rejected', code: -32_600 } });
    expect(!outcome.ok && outcome.failure.message).toContain('too old');
    expect(await stopped).toMatchObject({ reason: 'killed' });
  });

  it('[F-6] is not initialized twice', async () => {
    const { codex, heard } = await startCodex();
    await codex.connect();
    expect(await codex.request('initialize', {})).toMatchObject({
      failure: { kind: 'protocol', message: 'Already initialized', outcome: 'not_started' },
    });
    expect(heard.filter(({ method }) => method === 'initialize').length).toBeLessThanOrEqual(1);
  });
});

const dies = [[['usual'], says.delta('so far'), ['stderr', 'panicked\n'], ['kill', 'SIGKILL']]] as const;

describe('an app-server that dies in a turn', () => {
  it('[F-2] [F-17] ends what is in flight with the reason, its signal and what it wrote to stderr', async () => {
    const { codex, thread, facts } = await startThread({ 'turn/start': dies });
    const listing = codex.request('skills/list');
    const outcome = await thread.send('hi').outcome;
    const lost = { kind: 'crash', reason: 'connection_lost', outcome: 'unknown', code: 'SIGKILL' };
    expect(outcome).toMatchObject({ ok: false, failure: lost });
    expect(!outcome.ok && outcome.failure.message).toContain('panicked');
    expect(await listing).toMatchObject({ failure: { ...lost } });
    expect(codex.state).toBe('crashed');
    expect(facts).toContainEqual(expect.objectContaining({ type: 'codex.app_server.connection.error' }));
  });

  it('[F-2] tells its subscribers, whose subscriptions end; for the next one they are renewed', async () => {
    const { codex, thread } = await startThread({ 'turn/start': [...dies, quickTurn] });
    const before = codex.notifications({ methods: ['nothing'] });
    await thread.send('hi').outcome;
    const heard = [];
    for await (const notification of before) heard.push(notification);
    expect(heard).toMatchObject([{ method: 'app_server_crashed', params: { reason: 'connection_lost' } }]);
    const after = codex.notifications({ methods: ['fake/heard'] });
    await openThread(codex);
    expect(await after.next()).toMatchObject({ done: false });
  });

  it('[F-2] makes its threads invalid: they take no input, and nothing is sent', async () => {
    const { codex, thread, heard, of } = await startThread({ 'turn/start': dies });
    await thread.send('hi').outcome;
    expect(thread.valid).toBe(false);
    expect(await thread.send('again').outcome).toMatchObject({
      failure: { kind: 'unavailable', reason: 'connection_lost', outcome: 'not_started' },
    });
    expect(heard.filter(({ method }) => method === 'turn/start')).toHaveLength(1);
    expect(codex.state).toBe('crashed');
    expect(of('process.started')).toHaveLength(1);
  });

  it('[F-2] [M-7] counts once for all turns that it ends', async () => {
    const { codex, thread, of } = await startThread(
      {
        'thread/start': [[['usual']], [['send', { id: '$id', result: { thread: { id: 'thread-2' } } }]]],
        'turn/start': [[['usual']], ...dies],
      },
      { policy: { breaker: { consecutiveFailures: 2 } } },
    );
    const other = await openThread(codex);
    const outcomes = [thread.send('one').outcome, other.send('two').outcome];
    for (const outcome of await Promise.all(outcomes)) expect(outcome).toMatchObject({ failure: { kind: 'crash' } });
    expect(of('call.failed')).toHaveLength(2);
    expect(codex.breaker.state).toBe('closed');
  });

  it('[F-25] is started again by who resumes the thread; the broken turn is marked and its input not sent again', async () => {
    const turns = [{ id: 'turn-1', status: 'interrupted', items: [] }];
    const { codex, thread, hear, heard, of } = await startThread(
      { 'turn/start': [...dies] },
      { env: { FAKE_TURNS: JSON.stringify(turns) } },
    );
    await thread.send('hi').outcome;
    expect(of('process.started')).toHaveLength(1);
    heard.length = 0;
    hear();
    const resumed = await codex.resumeThread(thread.id);
    expect(resumed).toMatchObject({ ok: true, value: { id: 'thread-1', valid: true, brokenTurn: 'turn-1' } });
    expect(of('process.started')).toHaveLength(2);
    expect(heard.map(({ method }) => method)).toEqual(['initialize', 'initialized', 'thread/resume']);
  });

  it('[V-9] is a temporary child of the root supervisor, gone from the tree when it is gone', async () => {
    const { gateway, thread, wait } = await startThread({ 'turn/start': dies });
    const child = () => gateway.tree().children?.find(({ id }) => id.startsWith('codex:'));
    expect(child()).toMatchObject({ restart: 'temporary', state: 'running' });
    const stopped = wait('child.stopped');
    await thread.send('hi').outcome;
    await stopped;
    expect(child()).toBeUndefined();
  });
});

describe('an app-server that ends', () => {
  it('[F-3] by itself and in good order is closed, and not crashed', async () => {
    const { codex, thread, wait, of } = await startThread({ 'turn/start': [[['usual'], ['leave', 0]]] });
    const heard = codex.notifications({ methods: ['nothing'] });
    const stopped = wait('codex.app_server.connection.stop');
    const { outcome } = thread.send('hi');
    const message = 'Codex closed the connection';
    expect(await outcome).toMatchObject({ failure: { kind: 'crash', reason: 'connection_closed', message } });
    expect(codex.state).toBe('closed');
    expect(await stopped).toMatchObject({ reason: 'normal' });
    expect(await heard.next()).toMatchObject({ value: { method: 'app_server_closed' } });
    expect(of('codex.app_server.connection.error')).toEqual([]);
  });

  it('[F-16] with a whole message and no line end is understood', async () => {
    const end = {
      method: 'turn/completed',
      params: { threadId: 'thread-1', turn: { id: 'turn-1', status: 'completed' } },
    };
    const { thread } = await startThread({ 'turn/start': [[['usual'], ['raw', JSON.stringify(end)], ['leave', 0]]] });
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
  });

  it('[F-16] in the middle of a message leaves it for the diagnosis', async () => {
    const { thread, of, logged } = await startThread({
      'turn/start': [[['usual'], ['raw', '{"method":"turn/comp'], ['leave', 0]]],
    });
    expect(await thread.send('hi').outcome).toMatchObject({ failure: { reason: 'connection_closed' } });
    expect(of('process.stray_output')).toMatchObject([
      { stream: 'stdout', line: 'the rest of a line at the end: {"method":"turn/comp' },
    ]);
    expect(logged.join('\n')).toContain('the rest of a line');
  });

  it('[F-15] reading while it waits for an approval is lost: the answer cannot be sent', async () => {
    const asks = [[['usual'], ['closeStdin'], says.asks(0)]] as const;
    let approve: (decision: 'accept') => void = () => undefined;
    const decision = new Promise<'accept'>((resolve) => {
      approve = resolve;
    });
    const { codex, thread, wait, until } = await startThread({ 'turn/start': asks }, { approve: () => decision });
    const requested = wait('codex.app_server.approval.requested');
    const outcome = thread.send('hi').outcome;
    await requested;
    approve('accept');
    expect(await until(outcome)).toMatchObject({ failure: { kind: 'crash', reason: 'connection_lost' } });
    expect(codex.state).toBe('crashed');
  });

  it('[F-18] a message that is too large is killed', async () => {
    const { thread, wait } = await startThread(
      { 'turn/start': [[['usual'], ['large', 5000]]] },
      { maxMessageBytes: 4096 },
    );
    const stopped = wait('codex.app_server.connection.stop');
    expect(await thread.send('hi').outcome).toMatchObject({
      failure: { kind: 'protocol', reason: 'message_too_large' },
    });
    expect(await stopped).toMatchObject({ reason: 'killed' });
  });

  it('[F-18] a message that just fits is read', async () => {
    const { thread } = await startThread(
      { 'turn/start': [[['usual'], ['large', 5000], says.completed]] },
      { maxMessageBytes: 5100 },
    );
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
  });
});

describe('the health of an app-server', () => {
  it('[F-26] is good when it lists a thread', async () => {
    const { codex, heardOf } = await startThread();
    expect(await codex.health()).toMatchObject({ status: 'healthy' });
    expect(await heardOf('thread/list')).toMatchObject([{ params: { limit: 1 } }]);
  });

  it('[F-26] is bad when it does not within 5 s, with the reason', async () => {
    const { codex, clock, heardOf } = await startThread({ 'thread/list': silent });
    const health = codex.health();
    await heardOf('thread/list');
    await clock.advance(4999);
    expect(await isSettled(health)).toBe(false);
    await clock.advance(1);
    expect(await health).toEqual({ status: 'unhealthy', reason: 'No answer to thread/list within 5s' });
  });

  it('[F-26] is bad when it refuses, and when there is none; it starts none', async () => {
    const refuses = [['send', { id: '$id', error: { code: -32_603, message: 'broken' } }]] as const;
    const { codex } = await startCodex({ 'thread/list': [refuses] });
    expect(await codex.health()).toEqual({ status: 'unhealthy', reason: 'The app-server is not running' });
    expect(codex.state).toBe('idle');
    await codex.connect();
    expect(await codex.health()).toEqual({ status: 'unhealthy', reason: 'broken' });
  });
});

describe('closing', () => {
  it('[I-3] ends turns and app-server in good order; the next thread starts another', async () => {
    const { codex, thread, of, heardOf } = await startThread({});
    const turn = thread.send('hi');
    await heardOf('turn/start');
    await codex.close();
    expect(await turn.outcome).toMatchObject({ failure: { kind: 'cancelled' } });
    expect(of('process.exited')).toMatchObject([{ exitCode: 0 }]);
    expect(codex.state).toBe('closed');
    expect(codex.breaker.state).toBe('closed');
    expect(await codex.startThread()).toMatchObject({ ok: true });
    expect(of('process.started')).toHaveLength(2);
  });

  it('[I-2] does not hold up who comes meanwhile: they get another one', async () => {
    const { codex, thread, of, heardOf, until } = await startThread({ 'turn/interrupt': silent });
    void thread.send('hi');
    await heardOf('turn/start');
    const closed = codex.close();
    await heardOf('turn/interrupt');
    expect(codex.state).toBe('draining');
    expect(await codex.startThread()).toMatchObject({ ok: true });
    expect(of('process.started')).toHaveLength(2);
    await until(closed);
    expect(codex.state).toBe('ready');
  });

  it('[L-5] is what a restart by name does', async () => {
    const { gateway, codex, wait } = await startThread({});
    const stopped = wait('codex.app_server.connection.stop');
    gateway.restart('codex');
    expect(await stopped).toMatchObject({ reason: 'normal' });
    expect(await codex.startThread()).toMatchObject({ ok: true });
  });

  it('[F-2] leaves who hears of a loss free to start the next one at once', async () => {
    const { gateway, codex, thread } = await startThread({ 'turn/start': dies });
    let next: ReturnType<typeof codex.startThread> | undefined;
    gateway.on('codex.app_server.connection.error', () => {
      next ??= codex.startThread();
      codex.on('app_server_crashed', () => void heard.push('crashed'));
    });
    const heard: string[] = [];
    await thread.send('hi').outcome;
    expect(await next).toMatchObject({ ok: true, value: { valid: true } });
    expect(codex.state).toBe('ready');
    expect(heard).toEqual([]);
  });
});

describe('the end of a gateway', () => {
  it('[I-3] ends turn and app-server in good order', async () => {
    const { gateway, codex, thread, of, heardOf } = await startThread({});
    const outcome = thread.send('hi').outcome;
    await heardOf('turn/start');
    await gateway.stop();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', reason: 'stopped' } });
    expect(of('process.exited')).toMatchObject([{ exitCode: 0 }]);
    expect(codex.state).toBe('closed');
  });

  it('[I-1] answers what is asked before the start and after the end', async () => {
    const gateway = createGateway({ kinds: [codexKind] });
    const codex = gateway.codex('codex');
    expect(await codex.health()).toMatchObject({ status: 'unhealthy' });
    await gateway.stop();
    expect(await codex.startThread()).toMatchObject({ failure: { kind: 'unavailable', attempts: 0 } });
  });
});
