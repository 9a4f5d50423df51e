import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Failure, HttpIntegration, HttpOptions, HttpParse, Integration, Outcome } from '../../../../src/index.ts';
import type { SimulatedClock } from '../../../../testing/index.ts';
import { answer, countingFetch, inTurn, type HttpServer, startGateway, startServer } from '../startHttp.ts';

interface Started<P extends HttpParse> {
  readonly api: HttpIntegration<P>;
  readonly clock: SimulatedClock;
}

async function startApi<const P extends HttpParse = 'json'>(
  { url }: Pick<HttpServer, 'url'>,
  options: Partial<HttpOptions<P>> = {},
): Promise<Started<P>> {
  let api: HttpIntegration<P> | undefined;
  const { clock } = await startGateway((gateway) => {
    api = gateway.http<P>('api', { baseUrl: url, ...options });
  });
  return { api: api as HttpIntegration<P>, clock };
}

/** Answers each connection with these bytes, then closes it. */
async function startRaw(text: string): Promise<{ readonly url: string }> {
  const server = createNetServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(text));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const valueOf = <T>(outcome: Outcome<T>): T => {
  if (!outcome.ok) throw new Error(`failed: ${outcome.failure.message}`, { cause: outcome.failure.cause });
  return outcome.value;
};
const failureOf = (outcome: Outcome<unknown>): Failure => {
  if (outcome.ok) throw new Error('it did not fail');
  return outcome.failure;
};
const once = { policy: { maxAttempts: 1 } } as const;

/** Errors of the parser of HTTP have a code, up to Node 22. */
const hasParserCodes = Number(process.versions.node.split('.')[0]) < 24;

describe('an answer', () => {
  it('[R-14] is status, headers and what its JSON holds', async () => {
    const server = await startServer(inTurn(answer(201, { a: 1 }, { 'X-Own': 'yes' })));
    const { api } = await startApi(server);
    const value = valueOf(await api.call({ method: 'POST', path: 'things', body: { b: 2 } }));
    expect(value).toMatchObject({ status: 201, headers: { 'x-own': 'yes' }, body: { a: 1 } });
    expect(server.received[0]).toMatchObject({ method: 'POST', url: '/things' });
    expect(server.received[0]?.headers['content-type']).toBe('application/json');
  });

  it('[R-14] is text, bytes or the response where that is asked for', async () => {
    const server = await startServer(inTurn(answer(200, 'grün')));
    const text = await startApi(server, { parse: 'text' });
    expect(valueOf(await text.api.call({ path: '' })).body).toBe('grün');
    const bytes = await startApi(server, { parse: 'bytes' });
    expect(valueOf(await bytes.api.call({ path: '' })).body).toEqual(new TextEncoder().encode('grün'));
    const response = await startApi(server, { parse: 'response' });
    expect(await valueOf(await response.api.call({ path: '' })).body.text()).toBe('grün');
  });

  it('[R-14] is unpacked', async () => {
    const packed = gzipSync('{"a":1}');
    const server = await startServer((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
    });
    const { api } = await startApi(server);
    expect(valueOf(await api.call({ path: '' })).body).toEqual({ a: 1 });
  });

  it.each([
    ['GET', answer(204)],
    ['HEAD', answer(200, '', { 'content-length': '7' })],
    ['DELETE', answer(200, '', { 'content-length': '0' })],
  ])('[R-14] may have no body: %s', async (method, given) => {
    const { api } = await startApi(await startServer(inTurn(given)));
    expect(valueOf(await api.call({ method, path: '' })).body).toBeUndefined();
  });

  it('[R-14] below 400 is no failure', async () => {
    const { api } = await startApi(await startServer(inTurn(answer(304))));
    expect(valueOf(await api.call({ path: '' })).status).toBe(304);
  });

  it('[R-14] that is no JSON is a failure of the protocol, whose text is not shown', async () => {
    const { api } = await startApi(await startServer(inTurn(answer(200, '<secret>', { 'content-type': 'text/html' }))));
    expect(failureOf(await api.call({ path: '' }))).toMatchObject({
      kind: 'protocol',
      message: 'HTTP 200: expected JSON, got 8 bytes that are none (text/html)',
      attempts: 1,
    });
  });

  it('[R-14] without a body that it should have is none', async () => {
    const server = await startServer((_, response) => response.writeHead(200).flushHeaders());
    const { api } = await startApi(server);
    const call = api.call({ path: '' });
    (await server.arrived(1)).end();
    expect(failureOf(await call).kind).toBe('protocol');
  });

  it.each([
    ['its headers say so', { 'content-length': '11' }],
    ['it turns out', {}],
  ])('[R-14] that is longer than allowed is message_too_large, when %s', async (_, headers) => {
    const server = await startServer(inTurn(answer(200, '01234567890', headers)));
    const long = await startApi(server, { parse: 'text', maxBodyBytes: 10 });
    expect(failureOf(await long.api.call({ path: '' }))).toMatchObject({
      kind: 'permanent',
      reason: 'message_too_large',
      status: 200,
      attempts: 1,
    });
    const fits = await startApi(server, { parse: 'text', maxBodyBytes: 11 });
    expect(valueOf(await fits.api.call({ path: '' })).body).toBe('01234567890');
  });
});

describe('a failed answer', () => {
  it.each([
    [400, 'permanent'],
    [401, 'auth'],
    [404, 'permanent'],
  ])('[R-14] %d is %s and not asked for again', async (status, kind) => {
    const server = await startServer(inTurn(answer(status, { error: { message: 'no' } })));
    const { api } = await startApi(server);
    expect(failureOf(await api.call({ path: '' }))).toMatchObject({ kind, status, attempts: 1 });
    expect(server.received).toHaveLength(1);
  });

  it.each([503, 529, 500])('[R-14] %d is asked for again', async (status) => {
    const server = await startServer(inTurn(answer(status), answer(200, '1')));
    const { api, clock } = await startApi(server);
    const call = api.call({ method: 'POST', path: '' });
    await waited(api);
    await clock.advance(3000);
    expect(valueOf(await call).body).toBe(1);
  });

  it('[R-12] 503 is asked for again even of a mutating call, 500 is not', async () => {
    const server = await startServer(inTurn(answer(503), answer(500)));
    const { api, clock } = await startApi(server);
    const call = api.call({ method: 'POST', path: '' }, { effect: 'mutating' });
    await waited(api);
    await clock.advance(2000);
    expect(failureOf(await call)).toMatchObject({ kind: 'transient', status: 500, attempts: 2 });
  });

  it('[M-13] 429 is asked for again when it said, not before', async () => {
    const server = await startServer(inTurn(answer(429, '', { 'retry-after': '20' }), answer(200, '1')));
    const { api, clock } = await startApi(server);
    const call = api.call({ path: '' });
    await waited(api);
    await clock.advance(19_999);
    expect(server.received).toHaveLength(1);
    await clock.advance(1);
    expect(valueOf(await call).body).toBe(1);
  });

  it('[M-13] 429 with a hint is obeyed though its body hangs', async () => {
    const hangs = (response: ServerResponse): void => {
      response.writeHead(429, { 'retry-after': '20' }).write('{"error":');
    };
    const server = await startServer(inTurn(hangs, answer(200, '1')));
    const { api, clock } = await startApi(server);
    const call = api.call({ path: '' });
    await expect.poll(() => clock.nextAt).toBe(1000);
    await clock.advance(1000);
    await waited(api);
    await clock.advance(19_999);
    expect(server.received).toHaveLength(1);
    await clock.advance(1);
    expect(valueOf(await call).body).toBe(1);
  });

  it('[R-14] of an exhausted quota is not asked for again', async () => {
    const { api } = await startApi(
      await startServer(inTurn(answer(429, { error: { type: 'insufficient_quota', message: 'no more' } }))),
    );
    expect(failureOf(await api.call({ path: '' }))).toMatchObject({
      kind: 'quota',
      message: 'HTTP 429 Too Many Requests: no more',
    });
  });
});

/** The call waits for its next attempt. */
async function waited(api: Pick<Integration<never, never>, 'state'>): Promise<void> {
  await expect.poll(() => api.state).toBe('backoff');
}

describe('a connection', () => {
  it('[R-14] that nobody takes was not used: even a mutating call is made again', async () => {
    const { url } = await startRaw('');
    const port = await new Promise<number>((resolve) => {
      const server = createNetServer().listen(0, '127.0.0.1', () => {
        const free = (server.address() as AddressInfo).port;
        server.close(() => resolve(free));
      });
    });
    expect(url).not.toContain(`:${port}`);
    const { api, clock } = await startApi({ url: `http://127.0.0.1:${port}` }, { policy: { maxAttempts: 2 } });
    const call = api.call({ method: 'POST', path: '' }, { effect: 'mutating' });
    await waited(api);
    await clock.advance(2000);
    expect(failureOf(await call)).toMatchObject({
      kind: 'transient',
      outcome: 'not_started',
      attempts: 2,
      code: 'ECONNREFUSED',
    });
  });

  it.each([
    ['without an answer', '', 'transient', 'UND_ERR_SOCKET'],
    ['in the body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc', 'transient', 'UND_ERR_SOCKET'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc', 'transient', 'UND_ERR_SOCKET'],
    ['with what is no HTTP', 'what?\r\n\r\n', 'protocol', hasParserCodes ? 'HPE_INVALID_CONSTANT' : undefined],
  ])('[R-14] that ends %s leaves the effect unknown', async (_, text, kind, code) => {
    const { api } = await startApi(await startRaw(text), { ...once, parse: 'text' });
    expect(failureOf(await api.call({ method: 'POST', path: '' }))).toMatchObject({ kind, code, outcome: 'unknown' });
  });

  it('[R-14] that is closed as a request is sent over it is broken: the call is made again unless it is mutating', async () => {
    const resets = (response: ServerResponse): void => void response.socket?.resetAndDestroy();
    const server = await startServer(inTurn(answer(200, '1'), resets, answer(200, '2'), resets));
    const { api, clock } = await startApi(server);
    expect(valueOf(await api.call({ path: '' })).body).toBe(1);
    const again = api.call({ method: 'POST', path: '' });
    await waited(api);
    await clock.advance(2000);
    expect(valueOf(await again).body).toBe(2);
    const failure = failureOf(await api.call({ method: 'POST', path: '' }, { effect: 'mutating' }));
    expect(failure).toMatchObject({ kind: 'transient', outcome: 'unknown', attempts: 1 });
  });
});

describe('a limit', () => {
  it('[R-9] on silence ends a request that gets no headers, and its connection', async () => {
    const server = await startServer(() => undefined);
    const { api, clock } = await startApi(server, { policy: { idleMs: 5000 } });
    const call = api.call({ method: 'POST', path: '' });
    await server.arrived(1);
    await clock.advance(4999);
    expect(api.stats).toMatchObject({ failed: 0 });
    await clock.advance(1);
    expect(failureOf(await call)).toMatchObject({ kind: 'timeout', reason: 'idle_timeout', attempts: 1 });
    // That of the request: undici may open another one for what comes next.
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-9] on silence ends a body that hangs; each chunk before was a sign of life', async () => {
    const server = await startServer((_, response) => response.writeHead(200).flushHeaders());
    const heard = countingFetch();
    const { api, clock } = await startApi(server, { parse: 'text', policy: { idleMs: 5000 }, fetch: heard.fetch });
    const call = api.call({ method: 'POST', path: '' });
    const response = await server.arrived(1);
    for (let chunk = 1; chunk <= 3; chunk++) {
      await clock.advance(4000);
      response.write('chunk');
      await expect.poll(heard.chunks).toBe(chunk);
    }
    await clock.advance(4999);
    expect(api.stats).toMatchObject({ failed: 0 });
    await clock.advance(1);
    expect(failureOf(await call)).toMatchObject({ kind: 'timeout', reason: 'idle_timeout' });
    // That of the request: undici may open another one for what comes next.
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });

  it('[R-12] that passed has a GET made again, not a POST', async () => {
    const server = await startServer(() => undefined);
    const { api, clock } = await startApi(server, { policy: { idleMs: 5000, maxAttempts: 2 } });
    for (const [method, attempts] of [
      ['GET', 2],
      ['POST', 1],
    ] as const) {
      const before = server.received.length;
      const call = api.call({ method, path: '' });
      for (let attempt = 1; attempt <= attempts; attempt++) {
        await server.arrived(before + attempt);
        await clock.advance(5000);
        await clock.advance(2000);
      }
      expect(failureOf(await call)).toMatchObject({ reason: 'idle_timeout', attempts });
    }
  });

  it('[R-8] by the caller ends the request, and its connection', async () => {
    const server = await startServer((_, response) => void response.writeHead(200).write('half'));
    const { api } = await startApi(server);
    const caller = new AbortController();
    const call = api.call({ path: '' }, { signal: caller.signal });
    await server.arrived(1);
    caller.abort();
    expect(failureOf(await call)).toMatchObject({ kind: 'cancelled' });
    // That of the request: undici may open another one for what comes next.
    await expect.poll(() => server.received[0]?.socket.destroyed).toBe(true);
  });
});

describe('a redirect', () => {
  it('[R-14] is followed within the origin, with its headers; a POST becomes a GET where HTTP says so', async () => {
    const server = await startServer(
      inTurn(answer(307, '', { location: '/b' }), answer(303, '', { location: '/c?d=1' }), answer(200, '1')),
    );
    const { api } = await startApi(server, { headers: { 'x-api-key': 'kkkk-1234' } });
    expect(valueOf(await api.call({ method: 'POST', path: 'a', body: { e: 1 } })).body).toBe(1);
    expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /a', 'POST /b', 'GET /c?d=1']);
    expect(server.received[2]?.headers).toMatchObject({ 'x-api-key': 'kkkk-1234' });
    expect(server.received[2]?.headers).not.toHaveProperty('content-type');
  });

  it('[O-8] [Q-6] to another origin is a failure: nothing is sent there', async () => {
    const other = await startServer(inTurn(answer(200, '1')));
    const server = await startServer(inTurn(answer(302, '', { location: `${other.url}/x?key=kkkk-1234` })));
    const { api } = await startApi(server, { headers: { 'x-api-key': 'kkkk-1234' } });
    expect(failureOf(await api.call({ path: '' }))).toMatchObject({
      kind: 'permanent',
      status: 302,
      message: `HTTP 302: the redirect was not followed: it leads away from ${server.url}, to ${other.url}`,
    });
    expect(other.received).toEqual([]);
  });

  it('[R-14] that goes round ends, and is the answer or a failure where that is asked for', async () => {
    const server = await startServer(inTurn(answer(302, '', { location: '/a' })));
    const round = await startApi(server);
    expect(failureOf(await round.api.call({ path: 'a' }))).toMatchObject({ kind: 'permanent', attempts: 1 });
    expect(server.received).toHaveLength(11);
    const failing = await startApi(server, { redirect: 'error' });
    expect(failureOf(await failing.api.call({ path: 'a' }))).toMatchObject({ kind: 'permanent', status: 302 });
    const manual = await startApi(server, { redirect: 'manual', parse: 'text' });
    expect(valueOf(await manual.api.call({ path: 'a' }))).toMatchObject({ status: 302, headers: { location: '/a' } });
  });
});

describe('a session', () => {
  it('[R-14] calls it as a tool; the method says its effect', async () => {
    const server = await startServer(inTurn(answer(500), answer(200, '1'), answer(200, '2')));
    const results: unknown[] = [];
    const { gateway, clock } = await startGateway((host) => {
      host.http('api', { baseUrl: server.url, effect: 'mutating' });
      host.session('s', {
        onMessage: async (_message, turn) => {
          results.push(await turn.tool('api', 'read', { path: 'a' }));
          results.push(await turn.tool('api', 'write', { method: 'POST', path: 'a', body: {} }));
        },
      });
    });
    const turnEnded = gateway.wait('session.turn_ended');
    const retried = gateway.wait('call.retried');
    await gateway.session('s').send({ kind: 'user', text: 'go' });
    await retried;
    await clock.advance(1000);
    await turnEnded;
    expect(results).toMatchObject([
      { status: 'ok', value: { status: 200, body: 1 }, retries: 1 },
      { status: 'ok', value: { status: 200, body: 2 }, retries: 0 },
    ]);
  });
});

describe('connections of failed calls', () => {
  it.each([
    ['fail', answer(500, 'x'.repeat(1_000_000))],
    ['lead away', answer(302, 'x'.repeat(1_000_000), { location: 'http://other.example/' })],
    ['are too long', answer(200, 'x'.repeat(1_000_000), { 'content-length': '1000000' })],
  ])('[R-14] are not left open, whatever the bodies of answers hold that %s', async (_, given) => {
    const server = await startServer(inTurn(given));
    const policy = { maxAttempts: 1, breaker: { consecutiveFailures: 1000 } };
    const { api } = await startApi(server, { policy, maxBodyBytes: 1000 });
    for (let call = 0; call < 20; call++) expect((await api.call({ path: '' })).ok).toBe(false);
    expect(server.received).toHaveLength(20);
    await expect.poll(() => server.open.size).toBeLessThanOrEqual(3);
  });
});
