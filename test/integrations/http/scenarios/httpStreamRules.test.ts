import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { anthropicEvents, type EventRules, openAiEvents, type ServerSentEvent } from '../../../../src/index.ts';
import { countingFetch, inTurn, startServer } from '../startHttp.ts';
import { answers, begins, readAll, request, startModel } from '../startStreams.ts';

describe('the rules of events', () => {
  const stop = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';

  it('[R-14] make a stream a failure that ends without its last event', async () => {
    const server = await startServer(inTurn(answers('event: delta\ndata: {}\n\n')));
    const { llm } = await startModel(server, { events: anthropicEvents });
    const { chunks, thrown } = await readAll(llm.stream(request));
    expect(chunks).toHaveLength(1);
    expect(thrown?.failure).toMatchObject({
      kind: 'transient',
      reason: 'connection_lost',
      message: 'The stream ended without its last event (message_stop)',
    });
  });

  it.each([
    ['its type', stop, anthropicEvents],
    ['its whole data', 'data: [DONE]\n\n', openAiEvents],
    ['a function', 'data: bye\n\n', { endsWith: ({ data }: ServerSentEvent) => data === 'bye' }],
  ])('[R-14] know the last event by %s: a body that stays open after it is closed', async (_, last, events) => {
    const server = await startServer(inTurn(begins('data: a\n\n', last, 'data: later\n\n')));
    const { llm, clock } = await startModel(server, { policy: { idleMs: 5000 } });
    const { chunks, outcome } = llm.stream(request, { events });
    await chunks.next();
    expect((await chunks.next()).done).toBe(false);
    const end = chunks.next();
    await expect.poll(() => clock.pending).toBeGreaterThan(0);
    await clock.advance(100);
    expect(await end).toEqual({ done: true, value: undefined });
    expect(await outcome).toMatchObject({ ok: true, value: { chunks: 2 } });
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-14] let a stream end well whose body stays open for longer than the limit on silence', async () => {
    const server = await startServer(inTurn(begins('data: [DONE]\n\n')));
    const { fetch, chunks: heard } = countingFetch();
    const { llm, clock } = await startModel(server, { fetch, policy: { idleMs: 20 }, events: openAiEvents });
    // The mark of the end is no chunk: who asks for one waits for the end of the body.
    const read = readAll(llm.stream(request, { parse: 'json' }));
    await expect.poll(heard).toBe(1);
    await clock.advance(100);
    expect(await read).toEqual({ chunks: [], thrown: undefined });
  });

  it.each(['for await', 'a web stream'])(
    '[R-13] [R-14] let a reader leave at the last event: the answer was whole (%s)',
    async (how) => {
      const server = await startServer(inTurn(begins('data: a\n\n', stop, 'data: later\n\n')));
      const { llm, clock } = await startModel(server, { policy: { idleMs: 50 }, events: anthropicEvents });
      const stream = llm.stream(request);
      const reader = how === 'a web stream' ? stream.toReadableStream().getReader() : undefined;
      const next = async () => (reader === undefined ? stream.chunks.next() : reader.read());
      await next();
      const { value } = await next();
      const said = value instanceof Uint8Array ? new TextDecoder().decode(value) : value?.event;
      expect(said).toMatch(/^(?:event: )?message_stop(?:\n|$)/);
      const left = reader === undefined ? stream.chunks.return?.() : reader.cancel();
      await clock.settle();
      await clock.advance(100);
      await left;
      expect(await stream.outcome).toMatchObject({ ok: true, value: { chunks: 2 } });
      expect(llm.stats).toMatchObject({ succeeded: 1, failed: 0 });
      expect(await stream.chunks.next()).toMatchObject({ done: true });
    },
  );

  it('[R-13] [R-14] call it left where a reader leaves before, though the last event has come', async () => {
    const server = await startServer(inTurn(begins(`data: a\n\n${stop}`)));
    const { llm } = await startModel(server, { events: anthropicEvents });
    const { chunks, outcome } = llm.stream(request);
    await chunks.next();
    await chunks.return?.();
    expect(await outcome).toMatchObject({ ok: false, failure: { reason: 'reader_left' } });
  });

  it('[R-14] leave a connection open for the next call whose body ends with its last event', async () => {
    const server = await startServer(inTurn(answers(stop)));
    const { llm } = await startModel(server, { events: anthropicEvents });
    await readAll(llm.stream(request));
    await readAll(llm.stream(request));
    expect(server.received[0]?.socket.destroyed).toBe(false);
  });

  const overloaded =
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
  const failed =
    'event: response.failed\ndata: {"type":"response.failed","response":{"error":{"code":"server_error","message":"Try again"}}}\n\n';
  it.each([
    ['Anthropic', anthropicEvents, overloaded, 'overloaded', 'Overloaded - overloaded_error'],
    ['Responses', openAiEvents, failed, 'transient', 'Try again - server_error'],
    [
      'Responses',
      openAiEvents,
      'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"Slow"}\n\n',
      'rate_limit',
      'Slow - rate_limit_exceeded',
    ],
    [
      'Chat',
      openAiEvents,
      'data: {"error":{"message":"The prompt is refused","code":"invalid_prompt"}}\n\n',
      'permanent',
      'The prompt is refused - invalid_prompt',
    ],
    ['a proxy', openAiEvents, 'event: error\ndata: upstream gone\n\n', 'unknown', 'upstream gone'],
  ])('[R-14] make an error in the stream of %s a failure: %#', async (_, events, frame, kind, words) => {
    const server = await startServer(inTurn(answers('data: {"text":"\\"error\\""}\n\n', frame, 'data: later\n\n')));
    const { llm } = await startModel(server, { events });
    const { chunks, thrown } = await readAll(llm.stream(request));
    expect(chunks).toHaveLength(1);
    expect(thrown?.failure).toMatchObject({ kind, message: `The stream told of an error: ${words}`, attempts: 1 });
  });

  it('[R-14] [R-13] let a stream be asked for again that told of its error first', async () => {
    const server = await startServer(inTurn(answers('event: ping\ndata: {}\n\n', overloaded), answers(stop)));
    const { llm, clock } = await startModel(server, { events: anthropicEvents });
    const read = readAll(llm.stream(request));
    await expect.poll(() => llm.state).toBe('backoff');
    await clock.advance(60_000);
    expect(await read).toMatchObject({ chunks: [{ event: 'message_stop' }], thrown: undefined });
  });

  it('[R-14] may be of the caller: facts, or an error that is classified', async () => {
    const server = await startServer(inTurn(answers('event: no\ndata: a\n\n')));
    const { llm } = await startModel(server);
    const failure = async (failedEvent: EventRules['failedEvent']) =>
      (await readAll(llm.stream(request, { events: { failedEvent } }))).thrown?.failure;
    expect(
      await failure(({ data }) => ({ kind: 'permanent', message: `no ${data}`, outcome: 'failed' })),
    ).toMatchObject({ kind: 'permanent', message: 'no a' });
    expect(await failure(() => Object.assign(new Error('no'), { status: 403 }))).toMatchObject({ kind: 'auth' });
    const throws = await failure(() => {
      throw new TypeError('by the caller');
    });
    expect(throws).toMatchObject({ message: 'by the caller' });
  });

  it.each([
    ['the stream', { contentMs: 1000 }, { contentMs: 25_000 }],
    ['the integration', { contentMs: 25_000 }, {}],
  ])('[R-14] tell signs of life from content: each has its clock, by %s', async (_, own, options) => {
    const server = await startServer(inTurn(begins('data: a\n\n')));
    const { fetch, chunks: heard } = countingFetch();
    const events = anthropicEvents;
    const { llm, clock } = await startModel(server, { fetch, policy: { idleMs: 10_000 }, events, ...own });
    const { chunks, outcome } = llm.stream(request, options);
    await chunks.next();
    const next = chunks.next();
    next.catch(() => undefined);
    const response = await server.arrived(1);
    for (const [count, sign] of ['event: ping\ndata: {}\n\n', ': comment\n\n'].entries()) {
      await clock.advance(9000);
      response.write(sign);
      await expect.poll(heard).toBe(count + 2);
    }
    await clock.advance(6999);
    expect(llm.stats.failed).toBe(0);
    await clock.advance(1);
    await expect(next).rejects.toMatchObject({
      failure: { kind: 'timeout', reason: 'idle_timeout', message: 'Nothing but signs of life for 25s' },
    });
    expect((await outcome).ok).toBe(false);
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it.each([
    ['by default', {}, 600_000, 'Nothing but signs of life for 10m'],
    ['of the integration', { firstContentMs: 25_000 }, 25_000, 'Nothing but signs of life for 25s'],
  ])('[R-13] have a limit of their own before the first content: %s', async (_, own, limitMs, message) => {
    const server = await startServer(inTurn(begins('')));
    const { llm, clock } = await startModel(server, {
      policy: { idleMs: 10_000, attemptMs: 3_600_000, overallMs: 3_600_000, maxAttempts: 1 },
      contentMs: 1000,
      ...own,
    });
    const { chunks, outcome } = llm.stream(request);
    const frames = [
      'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n',
      'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":""}}\n\n',
    ];
    const response = await server.arrived(1);
    for (let waitedMs = 0; waitedMs < limitMs; waitedMs += 5000) {
      const next = chunks.next();
      await clock.advance(waitedMs + 5000 < limitMs ? 5000 : 4999);
      expect(llm.stats.failed).toBe(0);
      response.write(frames[Math.min(1, waitedMs)] ?? '');
      expect((await next).done).toBe(false);
    }
    const last = chunks.next();
    last.catch(() => undefined);
    await clock.advance(1);
    await expect(last).rejects.toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout', message } });
    expect((await outcome).ok).toBe(false);
  });

  it('[R-13] count from content to content: what is empty between is none, and the time of their reader neither', async () => {
    const server = await startServer(inTurn(begins('data: {"choices":[{"delta":{"content":"a"}}]}\n\n')));
    const { llm, clock } = await startModel(server, { policy: { idleMs: 60_000 }, contentMs: 25_000 });
    const { chunks } = llm.stream(request);
    await chunks.next();
    const response = await server.arrived(1);
    const nextIs = async (content: string, afterMs: number): Promise<void> => {
      const next = chunks.next();
      await clock.advance(afterMs);
      response.write(`data: {"choices":[{"delta":{"content":"${content}"}}]}\n\n`);
      expect((await next).value?.data).toContain(`"${content}"`);
    };
    await nextIs('', 20_000);
    await nextIs('b', 4000);
    await clock.advance(50_000);
    await nextIs('', 20_000);
    const last = chunks.next();
    last.catch(() => undefined);
    await clock.advance(4999);
    expect(llm.stats.failed).toBe(0);
    await clock.advance(1);
    await expect(last).rejects.toMatchObject({ failure: { message: 'Nothing but signs of life for 25s' } });
  });

  it('[O-8] show nothing of a request that the server repeats in its stream', async () => {
    const secrets = { own: 'own-key-of-the-api-0123', call: 'key-of-this-call-0123', prompt: 'what the person asked' };
    const server = await startServer((received, response) => {
      const said = `refused ${String(received.headers.authorization)} ${String(received.headers['x-api-key'])} ${secrets.prompt}`;
      answers(`event: error\ndata: ${JSON.stringify({ error: { type: 'authentication_error', message: said } })}\n\n`)(
        response,
      );
    });
    const { llm, gateway } = await startModel(server, {
      events: anthropicEvents,
      headers: { authorization: `Bearer ${secrets.own}` },
    });
    const facts: unknown[] = [];
    gateway.on('*', (fact) => facts.push(fact));
    const body = { stream: true, messages: [{ role: 'user', content: secrets.prompt }] };
    const { thrown } = await readAll(llm.stream({ ...request, body, headers: { 'x-api-key': secrets.call } }));
    const fact = await readAll(
      llm.stream(
        { ...request, body },
        {
          events: { failedEvent: ({ data }) => ({ kind: 'auth', message: data, outcome: 'failed' }) },
        },
      ),
    );
    const text = inspect([thrown, fact, facts], { depth: Infinity, showHidden: true });
    expect(text).toContain('refused');
    expect(Object.values(secrets).filter((secret) => text.includes(secret))).toEqual([]);
  });
});

describe('a stream without rules', () => {
  const chat = `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', choices: [] })}\n\n`;
  const delta = 'event: delta\ndata: {}\n\n';

  it.each([
    ['Messages', 'event: message_start\ndata: {"type":"message_start"}\n\n', 'message_stop'],
    ['Messages, after a ping', 'event: ping\ndata: {"type": "ping"}\n\n', 'message_stop'],
    ['Responses', 'event: response.created\ndata: {}\n\n', 'response.completed, response.incomplete, [DONE]'],
    ['Chat', chat, 'response.completed, response.incomplete, [DONE]'],
    [
      'Chat, after a chunk of the filter',
      `data: {"object":""}\n\n${chat}`,
      'response.completed, response.incomplete, [DONE]',
    ],
  ])('[R-14] is a failure that begins like that of %s and ends without its last event', async (_, begin, names) => {
    const server = await startServer(inTurn(answers(begin, delta)));
    const { llm } = await startModel(server);
    const { thrown } = await readAll(llm.stream(request));
    expect(thrown?.failure).toMatchObject({
      kind: 'transient',
      reason: 'connection_lost',
      message: `The stream ended without its last event (${names})`,
    });
    expect((await readAll(llm.stream(request, { events: {} }))).thrown).toBeUndefined();
  });

  it.each([
    [
      'Messages',
      `event: message_start\ndata: {}\n\nevent: ping\ndata: {}\n\n${delta}event: message_stop\ndata: {}\n\n`,
      3,
    ],
    [
      'Responses',
      `event: response.created\ndata: {}\n\nevent: keepalive\ndata: {}\n\nevent: response.completed\ndata: {}\n\n`,
      2,
    ],
    ['Chat', `${chat}${chat}data: [DONE]\n\n`, 3],
    [
      'somebody else',
      'event: ping\ndata: 1\n\ndata: {"error":"none"}\n\ndata: {"error":{"code":-1,"message":"no"}}\n\n',
      3,
    ],
  ])('[R-14] is whole with all of %s', async (_, body, count) => {
    const server = await startServer(inTurn(answers(body)));
    const { llm } = await startModel(server);
    const { chunks, thrown } = await readAll(llm.stream(request));
    expect([thrown, chunks.length]).toEqual([undefined, count]);
  });

  it.each([
    [
      'an event of type error',
      'event: error\ndata: {"error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      'overloaded',
    ],
    ['text of type error', 'event: error\ndata: gone\n\n', 'unknown'],
    ['an error object', 'data: {"error":{"message":"Slow","type":"rate_limit_error"}}\n\n', 'rate_limit'],
    [
      'an error after chunks of Chat',
      `${chat}data: {"error":{"message":"Slow","code":"rate_limit_exceeded"}}\n\n`,
      'rate_limit',
    ],
  ])('[R-14] is a failure that tells of an error: %s', async (_, body, kind) => {
    const server = await startServer(inTurn(answers(body)));
    const { llm } = await startModel(server, { policy: { maxAttempts: 1 } });
    expect((await readAll(llm.stream(request))).thrown?.failure).toMatchObject({ kind });
    expect((await readAll(llm.stream(request, { events: {} }))).thrown).toBeUndefined();
  });
});

describe('a stream without rules whose first event tells of an error', () => {
  it.each([
    ['{"error":{"code":429,"message":"Slow down","status":"RESOURCE_EXHAUSTED"}}', 'rate_limit'],
    ['{"error":{"code":503,"message":"The model is busy","status":"UNAVAILABLE"}}', 'transient'],
    ['{"error":{"code":"401","message":"No such key"}}', 'auth'],
    ['{"error":{"message":"Slow","type":"rate_limit_error"}}', 'rate_limit'],
    ['{"error":{"message":"rate limit exceeded"}}', 'rate_limit'],
    ['{"error":"model not loaded"}', undefined],
    ['{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 'overloaded'],
    ['{"type":"error","code":"rate_limit_exceeded","message":"Slow"}', 'rate_limit'],
    ['{"type":"response.failed","response":{"error":{"code":"server_error","message":"no"}}}', 'transient'],
    ['{"object":"error","message":"Too long","type":"BadRequestError","code":400}', 'permanent'],
    ['{"code":500,"message":"worker died"}', 'transient'],
    ['{"status_code":502,"detail":"upstream"}', 'transient'],
    ['{"errors":[{"message":"unauthorized","code":403}]}', 'auth'],
  ])('[R-14] is a failure: %s', async (data, kind) => {
    const server = await startServer(inTurn(answers(`data: ${data}\n\n`)));
    const { llm } = await startModel(server, { policy: { maxAttempts: 1 } });
    const { chunks, thrown } = await readAll(llm.stream(request));
    expect(chunks).toEqual([]);
    expect(thrown?.failure).toMatchObject(kind === undefined ? { attempts: 1 } : { kind });
    expect((await readAll(llm.stream(request, { events: {} }))).thrown).toBeUndefined();
  });

  it.each([
    '{"error":null,"text":"a"}',
    '{"error":"","text":"a"}',
    '{"code":0,"message":"begun"}',
    '{"code":200,"message":"ok"}',
    '{"errors":[{"message":"partly"}],"data":{"a":1}}',
    '{"errors":[],"data":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}',
    '{"message":"the word \\"error\\" in a text"}',
    'an error in words',
  ])('[R-14] is none: %s', async (data) => {
    const server = await startServer(inTurn(answers(`data: ${data}\n\n`)));
    const { llm } = await startModel(server);
    expect(await readAll(llm.stream(request))).toMatchObject({ chunks: [{ data }], thrown: undefined });
  });

  it('[R-14] may have an error for content later', async () => {
    const server = await startServer(inTurn(answers('data: {"text":"a"}\n\n', 'data: {"error":"none"}\n\n')));
    const { llm } = await startModel(server);
    expect((await readAll(llm.stream(request))).chunks).toHaveLength(2);
  });
});
