import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import {
  type InspectorServerOptions,
  startInspectorServer,
  statelyInspectorUrl,
} from '../../../web/dashboard/inspectServer.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const official = '{"type":"@xstate.actor","sessionId":"x:0"}';
const own = '{"type":"unwedge.hello","name":"gateway.mjs","pid":1}';

/** A server whose viewers get two frames and then wait. */
async function start(options: Partial<InspectorServerOptions> = {}) {
  const clock = new SimulatedClock();
  const streams: Readable[] = [];
  const open = (): Readable => {
    const stream = new Readable({ objectMode: true, read: () => undefined });
    stream.push(own);
    stream.push(official);
    streams.push(stream);
    return stream;
  };
  const server = await startInspectorServer({ clock, open, ...options });
  onTestFinished(() => server.close());
  const url = new URL(server.url);
  const token = url.searchParams.get('token') ?? '';
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(url.port, path, headers, method);
  return { server, clock, streams, port: url.port, token, get };
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  /** What comes of the body, whole or up to a text in it. */
  readonly text: (upTo?: string) => Promise<string>;
  readonly gone: Promise<unknown>;
}

function ask(port: string, path: string, headers: Record<string, string>, method: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      onTestFinished(() => void response.destroy());
      let body = '';
      response.on('data', (chunk) => (body += String(chunk)));
      response.on('error', () => undefined);
      const gone = new Promise((left) => response.once('close', left));
      resolve({
        status: response.statusCode,
        headers: response.headers,
        gone,
        async text(upTo) {
          while (!response.complete && !response.destroyed && (upTo === undefined || !body.includes(upTo)))
            await Promise.race([once(response, 'data'), once(response, 'end')]);
          return body;
        },
      });
    });
    request.on('error', reject);
    request.end();
  });
}

/** What a WebSocket hears until it is closed, or its first message. */
async function upgrade(url: string, origin?: string): Promise<{ first?: string; code?: number; error?: string }> {
  const socket = new WebSocket(url, origin === undefined ? {} : { origin });
  onTestFinished(() => socket.terminate());
  return new Promise((resolve) => {
    socket.once('message', (data) => resolve({ first: String(data as Buffer) }));
    socket.once('close', (code) => resolve({ code }));
    socket.once('error', ({ message }) => resolve({ error: message }));
  });
}

describe('who an inspector answers', () => {
  it('[O-6] is who has the token', async () => {
    const { get, token } = await start();
    expect((await get(`/?token=${token}`)).status).toBe(200);
    expect((await get(`/events?token=${token}`)).status).toBe(200);
  });

  it.each([
    ['no token', ''],
    ['an empty token', '?token='],
    ['a wrong token', '?token=AAAAAAAAAAAAAAAAAAAAAAAA'],
    ['a token with something behind it', '?token=TOKENx'],
    ['a token in the wrong place', '?key=TOKEN'],
  ])('[O-6] is not who has %s', async (_, query) => {
    const { get, token, streams, port } = await start();
    const wrong = query.replace('TOKEN', token);
    for (const path of ['/', '/events', '/ws', '/nothing']) expect((await get(path + wrong)).status).toBe(403);
    expect(await upgrade(`ws://127.0.0.1:${port}/ws${wrong}`)).toEqual({
      error: expect.stringContaining('403') as string,
    });
    expect(streams).toEqual([]);
  });

  it.each(['evil.test', 'evil.test:PORT', '127.0.0.1', '127.0.0.1:1', '127.0.0.1.evil.test:PORT', 'localhost'])(
    '[O-6] is not who asks for the host %s, though the token is right',
    async (host) => {
      const { get, token, port } = await start();
      expect((await get(`/?token=${token}`, { host: host.replace('PORT', port) })).status).toBe(403);
      expect((await get(`/events?token=${token}`, { host: host.replace('PORT', port) })).status).toBe(403);
    },
  );

  it.each([
    'http://evil.test',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1:1',
    'null',
    'http://localhost.evil.test:PORT',
  ])('[O-6] is not a page of the origin %s, though the token is right', async (origin) => {
    const { get, token, port, server } = await start();
    const foreign = origin.replace('PORT', port);
    expect((await get(`/events?token=${token}`, { origin: foreign })).status).toBe(403);
    expect(await upgrade(server.webSocketUrl, foreign)).toEqual({ error: expect.stringContaining('403') as string });
  });

  it('[O-6] is its own page, by number and by name', async () => {
    const { get, token, port } = await start();
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      expect((await get(`/events?token=${token}`, { host, origin: `http://${host}` })).status).toBe(200);
    }
  });

  it('[O-6] has another token at every start, of 18 random bytes', async () => {
    const tokens = [(await start()).token, (await start()).token];
    expect(tokens[0]).toMatch(/^[\w-]{24}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
  });
});

describe('the server of an inspector', () => {
  it('[O-6] sends frames as they are, one an event', async () => {
    const { get, token } = await start();
    const answer = await get(`/events?token=${token}`);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(await answer.text(official)).toBe(`data: ${own}\n\ndata: ${official}\n\n`);
  });

  it('[O-6] sends only official frames over the WebSocket', async () => {
    const { server } = await start();
    expect(await upgrade(server.webSocketUrl)).toEqual({ first: official });
  });

  it('[O-6] serves a page that may load nothing from elsewhere and is kept nowhere', async () => {
    const { get, token } = await start();
    const { headers, text } = await get(`/?token=${token}`);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/,
    );
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    });
    const page = await text();
    expect(page).not.toMatch(/(src|href)="(?!data:)/);
    expect(page).not.toContain(token);
  });

  it('[O-6] refuses what is neither asked for nor there', async () => {
    const { get, token } = await start();
    expect((await get(`/?token=${token}`, {}, 'POST')).status).toBe(405);
    expect((await get(`/nothing?token=${token}`)).status).toBe(404);
  });

  it('[O-6] takes as many viewers as it may have, and one more when one has left', async () => {
    const { get, token, streams, server } = await start({ maxViewers: 2 });
    const first = await get(`/events?token=${token}`);
    expect(await upgrade(server.webSocketUrl)).toEqual({ first: official });
    expect((await get(`/events?token=${token}`)).status).toBe(503);
    expect(await upgrade(server.webSocketUrl)).toEqual({ code: 1013 });
    const closed = once(streams[0] as Readable, 'close');
    streams[0]?.destroy();
    await Promise.all([closed, first.gone]);
    expect((await get(`/events?token=${token}`)).status).toBe(200);
  });

  it('[O-6] lets go of the frames when a viewer leaves', async () => {
    const { server, streams, port, token } = await start();
    const request = httpRequest({ host: '127.0.0.1', port, path: `/events?token=${token}` });
    request.on('error', () => undefined);
    request.end();
    await once(request, 'response');
    const socket = new WebSocket(server.webSocketUrl);
    await once(socket, 'message');
    const closed = streams.map((stream) => new Promise((resolve) => stream.once('close', resolve)));
    request.destroy();
    socket.close();
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('[O-6] says so when there is nothing to watch', async () => {
    const { get, token, server } = await start({ open: () => Promise.reject(new Error('gone')) });
    expect((await get(`/events?token=${token}`)).status).toBe(502);
    expect(await upgrade(server.webSocketUrl)).toEqual({ code: 1013 });
  });

  it('[O-6] ends a viewer whose frames have ended', async () => {
    const { get, token, streams } = await start();
    const answer = await get(`/events?token=${token}`);
    streams[0]?.push(null);
    expect(await answer.text()).toContain(official);
    await answer.gone;
  });

  it('[O-6] lets every viewer go when it closes', async () => {
    const { get, token, server, streams } = await start();
    const answer = await get(`/events?token=${token}`);
    const socket = new WebSocket(server.webSocketUrl);
    await once(socket, 'message');
    await Promise.all([server.close(), answer.gone, once(socket, 'close')]);
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    await expect(get('/')).rejects.toThrow('ECONNREFUSED');
  });

  it('[O-6] closes though a viewer waits for frames that do not come', async () => {
    let asked = (): void => undefined;
    const waiting = new Promise<void>((resolve) => (asked = resolve));
    const open = (): Promise<Readable> => {
      asked();
      return new Promise(() => undefined);
    };
    const { server } = await start({ open });
    const ended = upgrade(server.webSocketUrl);
    await waiting;
    await server.close();
    expect(await ended).toEqual({ code: 1006 });
  });

  it('[O-6] closes though who was refused keeps its half of the connection open', async () => {
    const { server, port } = await start();
    const socket = connect({ host: '127.0.0.1', port: Number(port), allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.write(`GET /ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toContain('403');
    await server.close();
  });

  it('[O-6] gives viewers the time it is told to read the end of their frames', async () => {
    const { get, token, server, clock, streams } = await start();
    const answers = [await get(`/events?token=${token}`), await get(`/events?token=${token}`)];
    const closing = server.close(1000);
    streams[0]?.push('{"type":"unwedge.end"}');
    streams[0]?.push(null);
    expect(await answers[0]?.text()).toContain('unwedge.end');
    await clock.advance(999);
    expect(streams[1]?.destroyed).toBe(false);
    await clock.advance(1);
    await closing;
    expect(streams[1]?.destroyed).toBe(true);
  });

  it('[O-6] cannot start on a port that is taken', async () => {
    const { port } = await start();
    await expect(start({ port: Number(port) })).rejects.toThrow('EADDRINUSE');
  });

  it('[O-6] shows the official page only when told to, and nothing of it before the person agrees', async () => {
    const { get, token } = await start({ stately: statelyInspectorUrl });
    const { headers, text } = await get(`/?token=${token}`);
    expect(headers['content-security-policy']).toMatch(/; frame-src https:\/\/stately\.ai$/);
    const page = await text();
    expect(page).toContain('https://stately.ai/inspect');
    expect(page).toContain('third party');
    expect(page).not.toMatch(/<iframe[^>]* src=/);
  });
});
