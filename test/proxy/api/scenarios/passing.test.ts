import { Agent, createServer } from 'node:http';
import { connect, createServer as createNetServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, startApiProxy, streamed } from '../startApiProxy.ts';

/** Ids differ from answer to answer. */
const anonymous = (text: string): string => text.replaceAll(/_\d+/g, '');

describe('what passes through the proxy', () => {
  it.each(['/v1/messages?beta=true', '/prefix/v1/responses', '/v1/chat/completions'])(
    '[E-7] a good stream of %s passes byte by byte',
    async (path) => {
      const { api, ask, of } = await startApiProxy();
      const direct = await (await fetch(`${api.url}${path}`, { method: 'POST', body: streamed() })).text();
      const got = await ask({ path }).got;
      expect(got).toMatchObject({ status: 200, whole: true });
      expect(anonymous(got.text)).toBe(anonymous(direct));
      expect(got.headers['request-id']).toMatch(/^req_/);
      expect(api.requests.at(-1)).toMatchObject({ url: path, method: 'POST', body: streamed() });
      expect(of('call.failed')).toEqual([]);
    },
  );

  it('[E-7] headers pass, but for those of the connection; a stream that is read is not compressed', async () => {
    const { api, ask } = await startApiProxy();
    await ask({
      headers: {
        'anthropic-version': '2023-06-01',
        'x-codex-turn-metadata': 'turn',
        'accept-encoding': 'gzip, br',
        connection: 'keep-alive, x-hop',
        'x-hop': 'dropped',
        'proxy-authorization': 'dropped',
      },
    }).got;
    const { headers } = api.requests[0] ?? { headers: {} };
    expect(headers).toMatchObject({
      'anthropic-version': '2023-06-01',
      'x-codex-turn-metadata': 'turn',
      'x-api-key': 'key-one',
      'accept-encoding': 'identity',
      host: new URL(api.url).host,
    });
    expect(headers).not.toHaveProperty('x-hop');
    expect(headers).not.toHaveProperty('proxy-authorization');
  });

  it.each([
    ['GET', '/v1/models?limit=1000'],
    ['HEAD', '/api/hello'],
    ['POST', '/v1/messages/count_tokens'],
    ['DELETE', '/v1/files/1'],
  ])('[E-7] %s %s passes', async (method, path) => {
    const { api, ask } = await startApiProxy();
    const got = await ask({ method, path, headers: { 'accept-encoding': 'gzip' } }).got;
    expect(got).toMatchObject({ status: 200, whole: true, text: method === 'HEAD' ? '' : '{}' });
    expect(api.requests[0]).toMatchObject({ method, url: path, headers: { 'accept-encoding': 'gzip' } });
  });

  it('[E-7] an answer that is no stream passes', async () => {
    const { ask } = await startApiProxy({ script: [{ text: 'whole' }] });
    const got = await ask({ body: streamed({ stream: false }) }).got;
    expect(JSON.parse(got.text)).toMatchObject({ type: 'message', content: [{ text: 'whole' }] });
  });

  it('[E-7] the path of the upstream stands before that of the request', async () => {
    const first = await startApiProxy();
    const { api, ask } = await startApiProxy({ upstream: `${first.api.url}/gateway/` });
    await ask().got;
    expect(first.api.requests[0]?.url).toBe('/gateway/v1/messages');
    expect(api.requests).toEqual([]);
  });

  it('[E-7] a version at the end of the path of the upstream and at the beginning of the request stands there once', async () => {
    const first = await startApiProxy();
    const { ask } = await startApiProxy({ upstream: `${first.api.url}/base/v1/` });
    expect((await ask({ path: '/v1/responses' }).got).status).toBe(200);
    expect((await ask({ path: '/chat/completions' }).got).status).toBe(200);
    expect(first.api.requests.map(({ url }) => url)).toEqual(['/base/v1/responses', '/base/v1/chat/completions']);
  });

  it('[E-7] an answer of 400 passes untouched, and is asked for once', async () => {
    const { api, ask, of } = await startApiProxy({
      script: [{ do: 'refuse', status: 400, headers: { 'request-id': 'req_400', 'x-should-retry': 'false' } }],
    });
    const got = await ask().got;
    expect(got).toMatchObject({ status: 400, headers: { 'request-id': 'req_400', 'x-should-retry': 'false' } });
    expect(JSON.parse(got.text)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'invalid_request_error' },
    });
    expect(api.requests).toHaveLength(1);
    expect(of('call.failed')[0]?.failure).toMatchObject({
      kind: 'permanent',
      message: 'HTTP 400 (invalid_request_error)',
    });
  });

  it('[E-7] a WebSocket is refused with 426, so that the client asks by HTTP', async () => {
    const { server } = await startApiProxy();
    const socket = connect(server.port, '127.0.0.1');
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    socket.setEncoding('utf8');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1.1 426 Upgrade Required\r\n/);
    expect(text).toMatch(/\r\nConnection: close\r\nContent-Length: 0\r\n\r\n$/);
  });

  it('[E-7] a request from the page of another site is refused', async () => {
    const { api, ask } = await startApiProxy();
    expect((await ask({ headers: { origin: 'https://elsewhere.example' } }).got).status).toBe(403);
    expect((await ask({ headers: { host: 'elsewhere.example' } }).got).status).toBe(403);
    expect(api.requests).toEqual([]);
  });

  it('[E-7] a body above the limit passes as it comes, and is sent once', async () => {
    const { api, ask } = await startApiProxy({ maxKeptBytes: 1000, script: [{ do: 'refuse', status: 529 }, {}] });
    const body = streamed({ filler: 'x'.repeat(200_000) });
    expect((await ask({ body }).got).status).toBe(529);
    expect(api.requests.map((each) => each.body)).toEqual([body]);
    expect((await ask({ body, headers: { 'transfer-encoding': 'chunked' } }).got).status).toBe(200);
    expect(api.requests[1]?.body).toBe(body);
  });

  it('[E-7] a client that expects 100-continue, and one that speaks HTTP/1.0, get their answer', async () => {
    const { server, ask, api } = await startApiProxy();
    expect(await ask({ headers: { expect: '100-continue' } }).got).toMatchObject({ status: 200, whole: true });
    expect(api.requests[0]?.headers).not.toHaveProperty('expect');
    const socket = connect(server.port, '127.0.0.1');
    const body = streamed();
    socket.write(
      `POST /v1/messages HTTP/1.0\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.setEncoding('utf8');
    let text = '';
    socket.on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    expect(text).toContain('message_stop');
    expect(text).not.toMatch(/transfer-encoding: chunked/i);
  });

  it('[E-7] a body that stays open after the last event is ended after 2 s', async () => {
    const { ask, clock, api } = await startApiProxy({ script: [{ then: 'open' }] });
    clock.stop();
    const asking = ask();
    await asking.saw('message_stop');
    clock.skip(2000);
    expect(await asking.got).toMatchObject({ status: 200, whole: true });
    await api.aborted(1);
  });

  it('[E-7] an answer that is complete ends in good order at a limit on silence too', async () => {
    const { ask, clock } = await startApiProxy({ script: [{ then: 'open' }], bytesMs: 1500 });
    clock.stop();
    const asking = ask();
    await asking.saw('message_stop');
    clock.skip(1500);
    const got = await asking.got;
    expect(got).toMatchObject({ status: 200, whole: true });
    expect(got.text).not.toContain('event: error');
  });

  it('[E-7] bytes that are no UTF-8 text, cut anywhere, pass as they came', async () => {
    const bytes = Buffer.concat([
      Buffer.from('event: message_start\ndata: {"type":"message_start","é'),
      Buffer.from([0xff, 0xfe, 0xe2, 0x82]),
      Buffer.from('"}\r\n\r\nevent: message_stop\ndata: {}\n\n'),
    ]);
    const upstream = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const parts = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
      const next = (): void => {
        const part = parts.shift();
        if (part === undefined) response.end();
        else response.write(part, next);
      };
      next();
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void upstream.close());
    const { origin } = await startApiProxy({
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    });
    const got = await fetch(`${origin}/v1/messages`, { method: 'POST', body: streamed() });
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('[E-7] an answer that Node cannot pass on is refused, and the proxy goes on', async () => {
    const upstream = createNetServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 099 Odd\r\ncontent-length: 2\r\n\r\n{}'));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void upstream.close());
    const { ask } = await startApiProxy({
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      policy: { maxAttempts: 2, retry: { backoff: { kind: 'constant', delayMs: 1 } } },
    });
    for (let count = 0; count < 2; count++) expect((await ask().got).status).toBeGreaterThanOrEqual(502);
  });

  it('[E-7] a connection of a client is used again after an answer that was cut', async () => {
    const { origin } = await startApiProxy({ script: [{ until: 'text', then: 'reset' }, {}] });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    expect((await ask(origin, { agent, headers: { 'user-agent': 'claude-cli/2' } }).got).whole).toBe(false);
    for (let count = 0; count < 3; count++) expect((await ask(origin, { agent }).got).whole).toBe(true);
  });

  it('[E-7] [I-3] nothing is left when the proxy has stopped', async () => {
    const { ask, stop, api, registry } = await startApiProxy({ script: [{ until: 'text', then: 'stall' }] });
    const asking = ask();
    await asking.saw('Hello');
    await stop();
    expect((await asking.got).text).toContain('event: error');
    expect(api.requests).toHaveLength(1);
    expect(registry.stopped).toBe(true);
  });
});
