import { once as onceEvent } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  type CallStream,
  type HttpChunks,
  type HttpIntegration,
  type HttpStreamOptions,
  IntegrationError,
  openAiEvents,
  type ServerSentEvent,
  type ToolStream,
  type Turn,
} from '../../../../src/index.ts';
import { isSettled } from '../../../support/deferred.ts';
import { answer, type HttpServer, inTurn, startServer } from '../startHttp.ts';
import { answers, begins, cuts, dataOf, readAll, refuses, request, startModel } from '../startStreams.ts';

describe('a stream of events', () => {
  it('[R-13] [R-14] gives each event when it has come, and ends with the body', async () => {
    const server = await startServer((_, response) => begins('event: delta\ndata: {"a":')(response));
    const { llm } = await startModel(server);
    const { chunks, outcome } = llm.stream(request);
    const first = chunks.next();
    const response = await server.arrived(1);
    response.write('1}\n\ndata: 2\n\nda');
    expect(await first).toMatchObject({ value: { event: 'delta', data: '{"a":1}' } });
    expect(await chunks.next()).toMatchObject({ value: { data: '2' } });
    const third = chunks.next();
    response.end('ta: 3\n\n');
    expect(await third).toMatchObject({ value: { data: '3' } });
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
    expect(await outcome).toMatchObject({ ok: true, value: { chunks: 3 } });
    expect(server.received[0]?.headers).toMatchObject({ accept: 'text/event-stream' });
  });

  it.each([
    ['within a character', cuts(Buffer.from('data: a\n\ndata: é').subarray(0, -1))],
    ['between events', cuts('data: a\n\n')],
    ['within an event, in good order', answers('data: a\n\ndata: b\n')],
    ['within a character, in good order', answers(Buffer.from('data: a\n\ndata: é').subarray(0, -1))],
  ])('[R-13] that is cut %s is a failure after what came, and not begun anew', async (_, answer) => {
    const server = await startServer(inTurn(answer));
    const { llm } = await startModel(server, { effect: 'readOnly' });
    const stream = llm.stream(request);
    const { chunks, thrown } = await readAll(stream);
    expect(dataOf(chunks)).toEqual(['a']);
    const lost = { kind: 'transient', reason: 'connection_lost', outcome: 'unknown', attempts: 1 };
    expect(thrown?.failure).toMatchObject(lost);
    expect((await stream.outcome).ok).toBe(false);
    expect(server.received).toHaveLength(1);
  });

  it.each([
    ['events', 'event: hello\ndata: {\ndata: "a":1}\n\n', 'event: hello\ndata: {\ndata: "a":1}\n\n'],
    ['json', 'event: hello\ndata: {\ndata: "a":1}\n\n', 'event: hello\ndata: {"a":1}\n\n'],
    ['lines', 'one\r\ntwo', 'one\ntwo\n'],
    ['bytes', 'one\r\ntwo', 'one\r\ntwo'],
  ] as const)('[R-14] is the body of a response as it is, read as %s', async (parse, sent, text) => {
    const server = await startServer(inTurn(answers(sent)));
    const { llm } = await startModel(server);
    const stream = llm.stream(request, { parse } as HttpStreamOptions<'lines'>);
    expect(await new Response(stream.toReadableStream()).text()).toBe(text);
  });

  it.each([
    ['its error', { error: { message: 'no such model', type: 'invalid_request_error' } }, 'no such model'],
    ['its JSON', { problems: [{ at: 'model', says: 'required' }] }, '{"problems":[{"at":"model","says":"required"}]}'],
    ['its text', 'the model is not here', 'the model is not here'],
    ['no more than that', {}, undefined],
  ])('[R-14] that is refused says what its body says: %s', async (_, body, said) => {
    const message = said === undefined ? 'HTTP 400 Bad Request' : `HTTP 400 Bad Request: ${said}`;
    const server = await startServer(inTurn(answer(400, body)));
    const { llm, gateway } = await startModel(server);
    const own = gateway.integration('own', {}, () => fetch(server.url));
    const failure = { kind: 'permanent', status: 400, message };
    expect((await readAll(llm.stream(request))).thrown?.failure).toMatchObject(failure);
    expect((await readAll(own.stream(undefined))).thrown?.failure).toMatchObject(failure);
    expect(await llm.call(request)).toMatchObject({ failure });
  });

  it('[O-8] that is refused says no secret of its body, and not all of it', async () => {
    const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
    const server = await startServer(inTurn(answer(400, { key: secret, more: 'x'.repeat(9000) })));
    const { gateway } = await startModel(server);
    const own = gateway.integration('own', {}, () => fetch(server.url));
    const { thrown } = await readAll(own.stream(undefined));
    expect(thrown?.message).toContain('HTTP 400 Bad Request: {"key":');
    expect(thrown?.message.length).toBeLessThan(1100);
    expect(inspect(thrown, { depth: 9 })).not.toContain(secret);
  });

  it('[R-14] that is none, but an error in JSON, says the error alone', async () => {
    const error = { error: { message: 'no such model' } };
    const [isJson, isAnswer] = [{ 'content-type': 'application/json' }, { text: 'private' }];
    const server = await startServer(inTurn(answer(200, error, isJson), answer(200, isAnswer, isJson)));
    const { llm } = await startModel(server);
    const message = 'HTTP 200: expected text/event-stream, got application/json';
    expect((await readAll(llm.stream(request))).thrown?.message).toBe(`${message}: no such model`);
    expect((await readAll(llm.stream(request))).thrown?.message).toBe(message);
  });

  it('[R-13] whose connection is reset in the middle gives the reason of a lost one', async () => {
    const server = await startServer(inTurn(begins('data: a\n\n')));
    const { llm } = await startModel(server);
    const { chunks, outcome } = llm.stream(request);
    await chunks.next();
    const response = await server.arrived(1);
    response.socket?.resetAndDestroy();
    await expect(chunks.next()).rejects.toThrow(IntegrationError);
    const reset = { kind: 'transient', reason: 'connection_lost', code: 'ECONNRESET' };
    expect(await outcome).toMatchObject({ failure: reset });
  });

  it.each([
    ['refused', refuses],
    ['cut', cuts(': hello\n\n')],
    ['ended without an event', answers(': hello\n\ndata: a')],
  ])('[R-13] is asked for again that was %s before its first event', async (_, answer) => {
    const server = await startServer(inTurn(answer, answers('data: a\n\n')));
    const { llm, clock } = await startModel(server);
    const read = readAll(llm.stream(request));
    await expect.poll(() => llm.state).toBe('backoff');
    await clock.advance(5000);
    expect(await read).toMatchObject({ chunks: [{ data: 'a' }], thrown: undefined });
  });

  it('[R-13] goes on after its last event where the caller says how', async () => {
    const server = await startServer(inTurn(cuts('id: 7\ndata: a\n\n'), answers('id: 8\ndata: b\n\n')));
    const { llm, clock } = await startModel(server);
    const stream = llm.stream(request, {
      resume: ({ id }, input) => ({ ...input, headers: { 'last-event-id': id } }),
    });
    const read = readAll(stream);
    await expect.poll(() => llm.state).toBe('backoff');
    await clock.advance(5000);
    expect(dataOf((await read).chunks)).toEqual(['a', 'b']);
    expect(server.received[1]?.headers['last-event-id']).toBe('7');
  });

  it('[R-13] [R-9] that stalls within an event is ended by the idle limit, and its connection with it', async () => {
    const server = await startServer(inTurn(begins('data: a\n\ndata: b')));
    const { llm, clock } = await startModel(server, { policy: { idleMs: 5000 } });
    const { chunks, outcome } = llm.stream(request);
    expect(await chunks.next()).toMatchObject({ value: { data: 'a' } });
    const next = chunks.next();
    next.catch(() => undefined);
    await clock.advance(4999);
    expect(llm.stats.failed).toBe(0);
    await clock.advance(1);
    await expect(next).rejects.toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect((await outcome).ok).toBe(false);
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-13] [R-8] whose reader leaves is closed: the server sees it', async () => {
    const server = await startServer(inTurn(begins('data: a\n\ndata: b\n\n')));
    const { llm } = await startModel(server);
    const stream = llm.stream(request);
    for await (const { data } of stream.chunks) {
      expect(data).toBe('a');
      break;
    }
    expect(await stream.outcome).toMatchObject({ ok: false, failure: { kind: 'cancelled', reason: 'reader_left' } });
    const response = await server.arrived(1);
    if (!response.destroyed) await onceEvent(response, 'close');
    expect(response.writableFinished).toBe(false);
    expect(llm.breaker.state).toBe('closed');
  });

  it('[R-13] whose reader is slow slows its server down, and no limit but the overall one counts the time', async () => {
    const event = `data: ${'x'.repeat(1_000_000)}\n\n`;
    const server = await startServer(inTurn(begins(...Array.from({ length: 32 }, () => event))));
    const { llm, clock } = await startModel(server, { policy: { idleMs: 5000, attemptMs: 10_000 } });
    const { chunks, outcome } = llm.stream(request);
    await chunks.next();
    await clock.advance(60_000);
    const response = await server.arrived(1);
    expect(response.writableLength).toBeGreaterThan(0);
    response.end();
    let count = 1;
    for await (const { data } of chunks) {
      expect(data).toHaveLength(1_000_000);
      count++;
    }
    expect(count).toBe(32);
    expect((await outcome).ok).toBe(true);
  });

  it('[R-14] that is none is a failure of the protocol, and is not left open', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    });
    const { llm, clock } = await startModel(server);
    const read = readAll(llm.stream(request));
    // The error in its body is waited for, no longer than that of any failed answer.
    await server.arrived(1);
    await expect.poll(async () => (await clock.advance(1000), isSettled(read))).toBe(true);
    expect((await read).thrown?.failure).toMatchObject({
      kind: 'protocol',
      status: 200,
      message: 'HTTP 200: expected text/event-stream, got application/json',
    });
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-14] [R-3] that is refused is a failure by its status', async () => {
    const server = await startServer((_, response) => {
      response.writeHead(401).end('{"error":{"message":"no key"}}');
    });
    const { llm } = await startModel(server);
    const { failure } = (await readAll(llm.stream(request))).thrown ?? {};
    expect(failure).toMatchObject({ kind: 'auth', status: 401, message: 'HTTP 401 Unauthorized: no key' });
  });

  it('[R-14] with an event that is too long ends there, and its connection with it', async () => {
    const server = await startServer(inTurn(begins(`data: a\n\ndata: ${'x'.repeat(5000)}`)));
    const { llm } = await startModel(server, { maxBodyBytes: 1000 });
    const { chunks, thrown } = await readAll(llm.stream(request));
    expect(dataOf(chunks)).toEqual(['a']);
    expect(thrown?.failure).toMatchObject({ kind: 'permanent', reason: 'message_too_large' });
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-13] hands on what came before its failure, and how it ended, in a session', async () => {
    const server = await startServer(inTurn(answers('data: a\n\n'), cuts('data: b\n\n')));
    const { llm, gateway } = await startModel(server);
    const seen: unknown[] = [];
    const session = gateway.session('main', {
      onMessage: async (_, turn) => {
        for (let index = 0; index < 2; index++) {
          const { chunks, result } = turn.stream(llm, 'complete', request);
          try {
            for await (const { data } of chunks) seen.push(data);
          } catch {
            seen.push('cut');
          }
          seen.push((await result).status);
        }
      },
    });
    const ended = gateway.wait('session.turn_ended');
    await session.send({ kind: 'user' });
    await ended;
    expect(seen).toEqual(['a', 'ok', 'b', 'cut', 'error']);
  });
});

describe('a stream of a session', () => {
  /** What one handler gives, which gets the integration. */
  async function inTurnOf<T>(server: HttpServer, handler: (turn: Turn, llm: HttpIntegration) => Promise<T>) {
    const { llm, gateway, clock } = await startModel(server);
    const given = new Promise<T>((resolve, reject) => {
      const session = gateway.session('main', { onMessage: (_, turn) => handler(turn, llm).then(resolve, reject) });
      void session.send({ kind: 'user' });
    });
    return { given, clock };
  }

  it('[R-14] reads the answer as its options say, with their types', async () => {
    const server = await startServer(inTurn(answers('data: {"b":1}\n\n')));
    const { given } = await inTurnOf(server, async (turn, llm) => {
      const json: ToolStream<ServerSentEvent<unknown>> = turn.stream(llm, 'ask', request, { parse: 'json' });
      const lines: ToolStream<string> = turn.stream(llm, 'ask', request, { parse: 'lines' });
      const bytes: ToolStream<Uint8Array> = turn.stream(llm, 'ask', request, { parse: 'bytes' });
      const events: ToolStream<ServerSentEvent> = turn.stream(llm, 'ask', request);
      const named: ToolStream<string> = turn.stream<object, string>('llm', 'ask', request, { parse: 'lines' });
      const taken: unknown[] = [];
      for (const { chunks } of [json, lines, events, named]) for await (const chunk of chunks) taken.push(chunk);
      let size = 0;
      for await (const { byteLength } of bytes.chunks) size += byteLength;
      return [...taken, size];
    });
    expect(await given).toMatchObject([
      { data: { b: 1 } },
      'data: {"b":1}',
      '',
      { data: '{"b":1}' },
      'data: {"b":1}',
      '',
      15,
    ]);
  });

  it('[R-14] takes rules and a limit on silence; only that of an HTTP API takes them', async () => {
    const server = await startServer(inTurn(begins('data: a\n\n')));
    const { given, clock } = await inTurnOf(server, async (turn, llm) => {
      expect(() => turn.stream('main', 'ask', {}, { parse: 'lines' })).toThrow(
        'Expected `options.parse` only for a stream of `gateway.http`',
      );
      expect(() => turn.stream(llm, 'ask', request, { parse: 'lines', events: {} })).toThrow(
        'Expected `options.events` to be left out with a `parse` of "lines"',
      );
      // @ts-expect-error no kind of chunks
      expect(() => turn.stream(llm, 'ask', request, { parse: 'xml' })).toThrow('got "xml"');
      const events = { endsWith: ({ data }: ServerSentEvent) => data === 'a' };
      const first = turn.stream(llm, 'ask', request, { events, contentMs: 5000 });
      for await (const { data } of first.chunks) expect(data).toBe('a');
      const second = turn.stream(llm, 'ask', request, { contentMs: 5000 });
      const { value } = await second.chunks.next();
      expect(value?.data).toBe('a');
      await expect(second.chunks.next()).rejects.toThrow('Nothing but signs of life for 5s');
      return (await first.result).status;
    });
    let isOver = false;
    void given.finally(() => (isOver = true));
    await expect
      .poll(async () => {
        await clock.advance(1000);
        return isOver;
      })
      .toBe(true);
    expect(await given).toBe('ok');
  });
});

describe('a stream that is read in another way', () => {
  it('[R-14] takes its options from a function of the caller', async () => {
    const server = await startServer(inTurn(answers('data: {"b":1}\n\n')));
    const { llm } = await startModel(server);
    const options: HttpStreamOptions<'json'> = { parse: 'json', events: {} };
    const stream: CallStream<ServerSentEvent<unknown>> = llm.stream(request, options);
    expect((await readAll(stream)).chunks).toMatchObject([{ data: { b: 1 } }]);
    const read = <S extends 'json' | 'lines'>(parse: HttpStreamOptions<S>): CallStream<HttpChunks[S]> =>
      llm.stream(request, parse);
    expect((await readAll(read({ parse: 'lines' }))).chunks).toEqual(['data: {"b":1}', '']);
  });

  it('[R-14] gives what the JSON of its events holds', async () => {
    const server = await startServer(inTurn(answers('event: a\ndata: {"b":1}\n\ndata: [DONE]\n\n')));
    const { llm } = await startModel(server, { events: openAiEvents });
    const stream = llm.stream(request, { parse: 'json' });
    expect((await readAll(stream)).chunks).toEqual([{ event: 'a', data: { b: 1 }, id: undefined }]);
    const { thrown } = await readAll(llm.stream(request, { parse: 'json', events: {} }));
    expect(thrown?.failure).toMatchObject({
      kind: 'protocol',
      message: 'Expected the data of each event to be JSON, got 6 characters that are none',
    });
  });

  it('[R-14] gives lines, the last one without its end too', async () => {
    const server = await startServer((_, response) => {
      response.write(Buffer.from('{"a":1}\r\n{"é').subarray(0, -1));
      response.write(Buffer.concat([Buffer.from('é').subarray(1), Buffer.from('":2}\nlast')]), () => response.end());
    });
    const { llm } = await startModel(server);
    expect((await readAll(llm.stream({ path: '' }, { parse: 'lines' }))).chunks).toEqual([
      '{"a":1}',
      '{"é":2}',
      'last',
    ]);
    expect(server.received[0]?.headers.accept).toBe('*/*');
  });

  it('[R-14] ends at a line that is too long, after those before it', async () => {
    const server = await startServer((_, response) => void response.write(`a\n${'x'.repeat(2000)}`));
    const { llm } = await startModel(server, { maxBodyBytes: 1000 });
    const { chunks, thrown } = await readAll(llm.stream({ path: '' }, { parse: 'lines' }));
    expect(chunks).toEqual(['a']);
    expect(thrown?.failure).toMatchObject({ reason: 'message_too_large' });
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-14] gives bytes as they come', async () => {
    const server = await startServer((_, response) => response.end('bytes'));
    const { llm } = await startModel(server);
    const { chunks } = await readAll(llm.stream({ path: '' }, { parse: 'bytes' }));
    expect(Buffer.concat(chunks).toString()).toBe('bytes');
  });
});

describe('an option that is wrong', () => {
  it.each([
    [{ parse: 'xml' }, 'Expected `options.parse` to be one of events, json, lines, bytes, got "xml"'],
    [
      { events: { endsWith: 7 } },
      'Expected `options.events.endsWith` to be an array of at least one string, or a function, got 7',
    ],
    [
      { events: { endsWith: [] } },
      'Expected `options.events.endsWith` to be an array of at least one string, got an array of 0',
    ],
    [{ parse: 'lines', events: {} }, 'Expected `options.events` to be left out with a `parse` of "lines"'],
    [{ parse: 'bytes', events: {} }, 'Expected `options.events` to be left out with a `parse` of "bytes"'],
    [{ firstContentMs: 0 }, 'Expected `options.firstContentMs` to be a duration above 0'],
    [{ contentMs: 0 }, 'Expected `options.contentMs` to be a duration above 0'],
    [{ resume: 1 }, 'Expected `options.resume` to be a function, got 1'],
  ])('[R-14] is named with its value: %j', async (options, message) => {
    const { llm } = await startModel({ url: 'http://127.0.0.1:1' });
    expect(() => llm.stream(request, options as never)).toThrow(message);
  });
});
