import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endUpgrade, type HttpServerOptions, startHttpServer } from '../../../web/server/httpServer.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

async function start(options: Partial<HttpServerOptions> = {}) {
  const clock = new SimulatedClock();
  const server = await startHttpServer({
    clock,
    answer: (_request, response) => void response.end('hello'),
    ...options,
  });
  onTestFinished(() => server.close());
  return { clock, server };
}

/** Status, headers and text of an answer; rejects when the connection ends without one. */
function ask(
  port: number,
  headers: Record<string, string> = {},
): Promise<readonly [number | undefined, IncomingMessage['headers'], string]> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.once('end', () => resolve([response.statusCode, response.headers, text]));
      response.once('error', reject);
    });
    request.once('error', reject);
    request.end();
  });
}

/** A connection that has sent the head of a request. */
async function raw(port: number, ...lines: readonly string[]): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write([...lines, '', ''].join('\r\n'));
  return socket;
}

/** Resolves when the connection is gone, by whatever end. */
function closed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined).resume();
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

describe('a listener on the loopback address', () => {
  it('[P-5] answers who may ask, and tells the others that they may not', async () => {
    const { server } = await start({ token: { value: 'secret', in: 'bearer' } });
    const [, , text] = await ask(server.port, { authorization: 'Bearer secret' });
    expect(text).toBe('hello');
    const [unauthorized, headers] = await ask(server.port);
    expect([unauthorized, headers['www-authenticate']]).toEqual([401, 'Bearer']);
    const [foreign] = await ask(server.port, { authorization: 'Bearer secret', origin: 'https://evil.example' });
    expect(foreign).toBe(403);
  });

  it('[P-5] survives what its answers throw, and ends their connections', async () => {
    let count = 0;
    const { server } = await start({
      answer: (_request, response) => {
        count += 1;
        if (count === 1) throw new Error('thrown');
        if (count === 2) return Promise.reject(new Error('rejected'));
        return void response.end('well');
      },
    });
    await expect(ask(server.port)).rejects.toThrow(/socket hang up|ECONNRESET/);
    await expect(ask(server.port)).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect((await ask(server.port))[2]).toBe('well');
  });

  it('[P-5] checks an upgrade as any other request, and survives what it throws', async () => {
    const upgraded: string[] = [];
    const { server } = await start({
      upgrade: (request, socket) => {
        upgraded.push(String(request.url));
        if (request.url === '/throws') throw new Error('thrown');
        endUpgrade(socket, '426 Upgrade Required', ['Upgrade: h2c']);
      },
    });
    const host = `Host: 127.0.0.1:${server.port}`;
    const told: string[] = [];
    for (const [path, name] of [
      ['/', 'Host: evil.example'],
      ['/throws', host],
      ['/ws', host],
    ] as const) {
      const socket = await raw(server.port, `GET ${path} HTTP/1.1`, name, 'Connection: Upgrade', 'Upgrade: websocket');
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      await once(socket, 'close');
      told.push(text.split('\r\n', 2).join('|'));
    }
    expect(upgraded).toEqual(['/throws', '/ws']);
    expect(told).toEqual([
      'HTTP/1.1 403 Forbidden|Content-Type: text/plain; charset=utf-8',
      '',
      'HTTP/1.1 426 Upgrade Required|Upgrade: h2c',
    ]);
  });

  it.each([
    ['CONNECT evil.example:443 HTTP/1.1', 'Host: evil.example', 405, 'The method CONNECT is not served here.'],
    ['TRACE / HTTP/1.1', 'Host: PLACE', 405, 'The method TRACE is not served here.'],
    ['GET http://PLACE/ HTTP/1.1', 'Host: PLACE', 400, 'this is no proxy for addresses of other hosts.'],
    ['GET //evil.example/ HTTP/1.1', 'Host: PLACE', 400, 'one of them is too many.'],
    ['GET / HTTP/1.1', 'Host: PLACE\r\nHost: PLACE', 400, 'more than one header Host.'],
    ['GET / HTTP/1.0', 'Accept: */*', 403, 'it has to be PLACE or localhost:'],
    ['GET / HTTP/1.1', 'Host: 127.0.0.1', 403, 'has to be PLACE or localhost:'],
    ['GET / HTTP/1.1', 'Host: PLACE\r\nSec-Fetch-Site: cross-site', 403, 'from a page of another site'],
  ])('[P-5] answers %j with %j by saying why not', async (line, header, status, reason) => {
    const asked: string[] = [];
    const { server } = await start({
      answer: (request, response) => void response.end(asked.push(String(request.url))),
    });
    const here = (text: string): string => text.replaceAll('PLACE', `127.0.0.1:${server.port}`);
    const socket = await raw(server.port, here(line), here(header));
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    await once(socket, 'close');
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toContain(here(reason));
    expect(asked).toEqual([]);
  });

  it('[I-3] lets every connection go when it closes: idle, half of a request, in the middle of an answer, and upgraded', async () => {
    const { server } = await start({
      answer: (_request, response) => void response.write('half'),
      upgrade: (_request, socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    });
    const host = `Host: 127.0.0.1:${server.port}`;
    const sockets = [
      await raw(server.port, 'GET / HTTP/1.1', host),
      await raw(server.port, 'GET /ws HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: websocket'),
    ];
    await Promise.all(sockets.map((socket) => once(socket, 'data')));
    const idle = connect({ host: '127.0.0.1', port: server.port });
    await once(idle, 'connect');
    const begun = connect({ host: '127.0.0.1', port: server.port });
    await once(begun, 'connect');
    begun.write('GET / HTT');
    const gone = [...sockets, idle, begun].map(closed);
    await Promise.all([server.close(), ...gone]);
    await expect(ask(server.port)).rejects.toThrow(/ECONNREFUSED/);
  });

  it('[P-5] gives what is being answered the time it is told, and no more', async () => {
    const { server, clock } = await start({ answer: (_request, response) => void response.write('half') });
    const socket = await raw(server.port, 'GET / HTTP/1.1', `Host: 127.0.0.1:${server.port}`);
    await once(socket, 'data');
    let isClosed = false;
    const closing = server.close(1000).then(() => (isClosed = true));
    await clock.advance(999);
    expect(isClosed).toBe(false);
    await clock.advance(1);
    await closing;
    expect(clock.pending).toBe(0);
  });

  it('[P-5] does not wait for its limit when all is answered, and leaves no timer', async () => {
    const { server, clock } = await start();
    await ask(server.port);
    await server.close(60_000);
    expect(clock.pending).toBe(0);
  });

  it('[P-5] cannot start on a port that is taken', async () => {
    const { server } = await start();
    await expect(start({ port: server.port })).rejects.toThrow(/EADDRINUSE/);
  });
});
