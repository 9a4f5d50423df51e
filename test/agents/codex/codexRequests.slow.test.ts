import { formatDuration } from '../../../src/policy/text/duration.ts';
import { describe, expect, it } from 'vitest';
import { isSettled } from '../../support/deferred.ts';
import { quickTurn, says, startCodex, startThread } from './startCodex.ts';

const silent = [[]] as const;
const answers = (result: unknown) => ['send', { id: '$id', result }] as const;

describe('a request that is not answered in time', () => {
  it.each([
    ['thread/fork', {}, 30_000],
    ['skills/config/write', {}, 30_000],
    ['config/value/write', {}, 10_000],
    ['command/exec', { command: ['true'], timeoutMs: 700 }, 700],
  ])('[F-7] %s %j ends at its limit, names both, and leaves the connection usable', async (method, params, limitMs) => {
    const { codex, clock, heardOf, of } = await startThread({ [method]: silent });
    const outcome = codex.request(method, params);
    await heardOf(method);
    await clock.advance(limitMs - 1);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({
      failure: {
        kind: 'timeout',
        outcome: 'unknown',
        message: `No answer to ${method} within ${formatDuration(limitMs)}`,
        attempts: 1,
        // It may have taken effect.
        retryable: false,
      },
    });
    expect(await codex.startThread()).toMatchObject({ ok: true });
    expect(of('process.started')).toHaveLength(1);
  });

  it('[F-7] turn/start ends after 300 s and is not interrupted; the thread takes no input until that one is known of', async () => {
    const { codex, thread, clock, heardOf, heard } = await startThread({ 'turn/start': [[], quickTurn] });
    const outcome = thread.send('hi').outcome;
    await heardOf('turn/start');
    await clock.advance(299_999);
    expect(await isSettled(outcome)).toBe(false);
    await clock.advance(1);
    expect(await outcome).toMatchObject({
      failure: { kind: 'timeout', message: 'No answer to turn/start within 5m' },
    });
    expect(await thread.send('hi').outcome).toMatchObject({
      failure: { kind: 'too_many_requests', outcome: 'not_started' },
    });
    const again = await codex.resumeThread(thread.id);
    expect(again.ok && (await again.value.send('hi').outcome)).toMatchObject({ ok: true });
    expect(heard.filter(({ method }) => method === 'turn/interrupt')).toEqual([]);
  });

  it('[R-8] ends at once when its signal aborts, also while the app-server is being started', async () => {
    const { codex, heardOf, of } = await startCodex({ initialize: silent });
    const controller = new AbortController();
    const outcome = codex.startThread({ signal: controller.signal });
    await heardOf('initialize');
    controller.abort();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', integration: 'codex' } });
    expect(await codex.startThread({ signal: controller.signal })).toMatchObject({
      failure: { kind: 'cancelled', attempts: 0 },
    });
    expect(of('call.failed')).toMatchObject([{ label: 'thread/start' }, { label: 'thread/start' }]);
  });

  it('[F-7] may have another limit', async () => {
    const { codex, clock, heardOf } = await startThread({ 'x/y': silent });
    const outcome = codex.request('x/y', {}, { limitMs: 50 });
    await heardOf('x/y');
    await clock.advance(50);
    expect(await outcome).toMatchObject({ failure: { message: 'No answer to x/y within 50ms' } });
  });
});

describe('an answer', () => {
  it('[F-8] that is an error gives its code, message, data and the id of its request', async () => {
    const error = { code: -32_602, message: 'too long', data: { input_error_code: 'input_too_large' } };
    const { codex, heardOf } = await startThread({ 'x/y': [[['send', { id: '$id', error }]]] });
    const outcome = await codex.request('x/y');
    const [asked] = await heardOf('x/y');
    expect(outcome).toMatchObject({
      failure: {
        kind: 'permanent',
        message: 'too long',
        code: -32_602,
        outcome: 'failed',
        cause: { code: -32_602, data: error.data, requestId: asked?.id, method: 'x/y' },
      },
    });
  });

  it.each([
    ['Server overloaded; retry later.', -32_001, { kind: 'overloaded' }],
    ['thread not found: x', -32_600, { kind: 'permanent', reason: 'not_found' }],
    ['Not initialized', -32_600, { kind: 'protocol' }],
    ['thread x already has an active writer', -32_600, { kind: 'too_many_requests', reason: 'scope_busy' }],
  ])('[F-8] [R-5] "%s" is judged by what it says', async (message, code, failure) => {
    const { codex } = await startThread({ 'x/y': [[['send', { id: '$id', error: { code, message } }]]] });
    expect(await codex.request('x/y')).toMatchObject({ failure });
  });

  it('[F-10] that nobody waits for is warned of and dropped', async () => {
    const stranger = ['send', { id: 999, result: {} }] as const;
    const { codex, logged, of } = await startThread({ 'x/y': [[stranger, answers({ fine: true })]] });
    expect(await codex.request('x/y')).toMatchObject({ ok: true, value: { fine: true } });
    expect(of('process.stray_output')).toMatchObject([{ line: 'an answer that nobody waits for: id 999' }]);
    expect(logged.join('\n')).toContain('id 999');
  });
});

describe('lines that are no messages', () => {
  it('[F-9] are warned of and skipped', async () => {
    const { codex, logged } = await startThread({ 'x/y': [[['raw', 'Loading...\n[1]\n'], answers(1)]] });
    expect(await codex.request('x/y')).toMatchObject({ ok: true, value: 1 });
    expect(logged.filter((line) => line.includes('no message'))).toHaveLength(2);
    expect(await codex.health()).toMatchObject({ status: 'healthy' });
  });

  it('[F-9] make the connection unhealthy when ten come in a row: nothing more is asked of it', async () => {
    const { codex, thread, wait, heard } = await startThread({
      'turn/start': [[['usual'], ['raw', 'x\n'.repeat(10)]]],
    });
    const trouble = wait('codex.app_server.connection.error');
    const turn = thread.send('hi');
    expect(await trouble).toMatchObject({ kind: 'protocol', error: '10 lines in a row are no messages' });
    expect(await codex.health()).toMatchObject({ status: 'unhealthy' });
    expect(await codex.request('x/y')).toMatchObject({ failure: { kind: 'unavailable', outcome: 'not_started' } });
    expect(heard.filter(({ method }) => method === 'x/y')).toEqual([]);
    expect(await isSettled(turn.outcome)).toBe(false);
  });

  it('[F-9] nine of them do not', async () => {
    const { codex, thread } = await startThread({
      'turn/start': [[['usual'], ['raw', 'x\n'.repeat(9)], says.completed]],
    });
    await thread.send('hi').outcome;
    expect(await codex.health()).toMatchObject({ status: 'healthy' });
  });

  it('[F-9] have an unhealthy connection replaced by the next thread when no turn is under way', async () => {
    const { codex, of, wait } = await startCodex({
      'thread/list': [[answers({ data: [] }), ['raw', 'x\n'.repeat(10)]]],
    });
    const trouble = wait('codex.app_server.connection.error');
    await codex.listThreads();
    await trouble;
    const stopped = wait('codex.app_server.connection.stop');
    expect(await codex.startThread()).toMatchObject({ ok: true });
    expect(await stopped).toMatchObject({ connection: 1, reason: 'killed' });
    expect(of('process.started')).toHaveLength(2);
  });
});

describe('a notification', () => {
  it('[F-11] that is not known is told at debug level, and to who listens to all', async () => {
    const { codex, logged, of } = await startThread({
      'x/y': [[['send', { method: 'brand/new', params: { a: 1 } }], answers(1)]],
    });
    const all = codex.notifications();
    await codex.request('x/y');
    const seen: unknown[] = [];
    for await (const notification of all) {
      if (notification.method === 'fake/heard') continue;
      seen.push(notification);
      break;
    }
    expect(seen).toEqual([{ method: 'brand/new', params: { a: 1 } }]);
    expect(logged).toContain('Codex said brand/new');
    expect(of('codex.app_server.notification.unknown')).toContainEqual(
      expect.objectContaining({ method: 'brand/new' }),
    );
  });

  it('[F-12] whose parameters lack what it needs is warned of and dropped; the turn goes on', async () => {
    const broken = [
      ['send', { method: 'item/completed', params: { threadId: '$thread', turnId: '$turn', item: 5 } }],
      ['send', { method: 'turn/completed', params: 'nonsense' }],
      ['send', { method: 'item/agentMessage/delta' }],
    ] as const;
    const { thread, logged } = await startThread({
      'turn/start': [[['usual'], ...broken, says.message('fine'), says.completed]],
    });
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true, value: { text: 'fine', items: 1 } });
    expect(logged.filter((line) => line.includes('without what it needs'))).toHaveLength(3);
  });

  it('[F-12] whose parameters lack what is not needed is read', async () => {
    const lean = { method: 'turn/completed', params: { threadId: '$thread', turn: { status: 'completed' } } };
    const { thread } = await startThread({ 'turn/start': [[['usual'], ['send', lean]]] });
    expect(await thread.send('hi').outcome).toMatchObject({ ok: true });
  });

  it('[F-20] that comes while a request waits is told before its answer', async () => {
    const note = (n: number) => ['send', { method: 'brand/new', params: { n } }] as const;
    const { codex, heardOf } = await startThread({ 'x/y': [[note(1), note(2)]], 'z/z': [[answers(1)]] });
    const order: unknown[] = [];
    codex.on('brand/new', ({ params }) => order.push(params['n']));
    const waiting = codex.request('x/y');
    await heardOf('x/y');
    await codex.request('z/z');
    expect(order).toEqual([1, 2]);
    expect(await isSettled(waiting)).toBe(false);
  });

  it('[F-23] reaches the other listeners of one that fails; that is told, and after three times in a row it is removed', async () => {
    const { codex, of } = await startThread({
      'x/y': [[['flood', { times: 5, message: { method: 'brand/new', params: {} } }], answers(1)]],
    });
    let failed = 0;
    let heard = 0;
    codex.on('brand/new', () => {
      failed++;
      throw new Error('no');
    });
    codex.on('brand/new', () => heard++);
    await codex.request('x/y');
    await codex.health();
    expect({ failed, heard }).toEqual({ failed: 3, heard: 5 });
    expect(of('listener.failed')).toHaveLength(3);
  });

  it('[F-23] waits for a slow reader among the last thousand; what is lost is counted', async () => {
    const flood = ['flood', { times: 1500, message: { method: 'brand/new', params: {} } }] as const;
    const { codex } = await startThread({ 'x/y': [[flood, answers(1)]] });
    const slow = codex.notifications({ methods: ['brand/new'] });
    expect(await codex.request('x/y')).toMatchObject({ ok: true });
    expect(slow.dropped).toBe(500);
  });
});

describe('requests at once', () => {
  it('[F-19] are answered in any order', async () => {
    const { codex } = await startCodex({
      'a/a': [[]],
      'b/b': [
        [
          ['send', { id: '$id', result: 'b' }],
          ['send', { id: 2, result: 'a' }],
        ],
      ],
    });
    await codex.connect();
    const outcomes = [codex.request('a/a'), codex.request('b/b')];
    expect(await Promise.all(outcomes)).toMatchObject([{ value: 'a' }, { value: 'b' }]);
  });

  it.each([
    [undefined, 100],
    [2, 2],
    [120, 120],
  ])('[F-22] are at most so many (maxInFlight %s: %i): one more is refused before it is sent', async (given, most) => {
    const policy = given === undefined ? undefined : { maxInFlight: given };
    const { codex, heardOf, until, gateway } = await startThread({ 'x/y': silent }, { policy });
    const waiting = Array.from({ length: most }, () => codex.request('x/y'));
    await heardOf('x/y', most);
    expect(await codex.request('x/y')).toMatchObject({
      failure: { kind: 'too_many_requests', outcome: 'not_started' },
    });
    await until(gateway.stop());
    for (const outcome of await Promise.all(waiting)) expect(outcome).toMatchObject({ ok: false });
  });
});

describe('the requests of a list of threads', () => {
  it('give what there is, and how to get more', async () => {
    const { codex, heardOf } = await startThread({
      'thread/list': [[answers({ data: [{ id: 't', cwd: '/w' }], nextCursor: 'c' })]],
    });
    expect(await codex.listThreads({ limit: 1, cursor: 'b' })).toEqual({
      ok: true,
      value: { threads: [{ id: 't', preview: '', cwd: '/w', updatedAt: undefined }], nextCursor: 'c' },
    });
    expect(await heardOf('thread/list')).toMatchObject([{ params: { limit: 1, cursor: 'b' } }]);
  });
});

describe('options', () => {
  it.each([
    [{ handshakeMs: 0 }, 'Expected `codex.handshakeMs` to be a duration above 0 (ms, or text such as 30s), got 0'],
    [{ comand: 'x' }, 'Unknown option `codex.comand`'],
    [{ config: { a: {} } }, 'Expected `codex.config.a` to be a string, got an object'],
    [{ approve: 5 }, 'Expected `codex.approve` to be a function, got 5'],
    [{ maxMessageBytes: 1023 }, 'Expected `codex.maxMessageBytes` to be an integer of at least 1024'],
  ])('%j are refused at once', async (options, message) => {
    await expect(startCodex({}, options as object)).rejects.toThrow(message);
  });

  it('[R-6] of Codex itself are passed on its command line', async () => {
    const { codex, of } = await startCodex(
      { start: [['args']] },
      { config: { 'model_providers.x.request_max_retries': 1, model: 'a "b"' } },
    );
    await codex.connect();
    expect(of('process.stray_output').map(({ line }) => line)).toContain(
      'args: -c model_providers.x.request_max_retries=1 -c model="a \\"b\\""',
    );
  });
});
