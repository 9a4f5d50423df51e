import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HttpServerOptions, startHttpServer } from '../../../../web/server/httpServer.ts';
import { systemClock } from '../../../../src/runtime/systemClock.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';

async function start(options: Partial<HttpServerOptions> = {}) {
  const clock = new SimulatedClock();
  const refused: number[] = [];
  const server = await startHttpServer({
    clock,
    refused: (status) => refused.push(status),
    answer: async (request, response) => {
      if (request.method !== 'POST') return void response.end('seen');
      let bytes = 0;
      for await (const chunk of request as AsyncIterable<Buffer>) bytes += chunk.length;
      response.end(`${bytes} bytes`);
    },
    ...options,
  });
  onTestFinished(() => server.close());
  return { server, clock, refused };
}

/** A connection, what it was told, and when it was closed. */
async function open(port: number, ...lines: readonly string[]) {
  const socket: Socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const heard = { text: '', closed: false };
  socket.on('data', (chunk) => (heard.text += String(chunk)));
  socket.on('error', () => undefined);
  socket.on('end', () => socket.end());
  socket.on('close', () => (heard.closed = true));
  await once(socket, 'connect');
  const write = (text: string) => new Promise<void>((resolve) => socket.write(text, () => resolve()));
  if (lines.length > 0) await write([...lines, `Host: 127.0.0.1:${port}`, '', ''].join('\r\n'));
  const first = async (): Promise<string> => {
    await expect.poll(() => heard.text, { interval: 5 }).not.toBe('');
    return heard.text.split('\r\n', 1)[0] ?? '';
  };
  const closed = () => expect.poll(() => heard.closed, { interval: 5 }).toBe(true);
  return { heard, write, first, closed };
}

const post = ['POST / HTTP/1.1', 'Content-Length: 10'];

/** Has what was sent read, and what follows from it done. */
async function settle(port: number): Promise<void> {
  const probe = await open(port, 'GET / HTTP/1.1', 'Connection: close');
  await probe.closed();
}

describe('how long a request may take to come', () => {
  it('[P-5] is bounded where a body is announced and not sent, by many at once', async () => {
    const { server, clock, refused } = await start();
    const all = await Promise.all(Array.from({ length: 50 }, () => open(server.port, ...post)));
    await settle(server.port);
    await clock.advance(9999);
    await settle(server.port);
    expect(all.filter(({ heard }) => heard.closed)).toHaveLength(0);
    await clock.advance(1);
    for (const each of all) {
      expect(await each.first()).toBe('HTTP/1.1 408 Request Timeout');
      await each.closed();
    }
    expect(refused).toEqual(Array.from({ length: 50 }, () => 408));
    expect(clock.pending).toBe(0);
  });

  it('[P-5] begins anew with each byte, up to the limit of the whole body', async () => {
    const { server, clock } = await start({ body: { silenceMs: 1000, wholeMs: 3000 } });
    const slow = await open(server.port, ...post);
    for (let byte = 0; byte < 3; byte++) {
      await slow.write('x');
      await settle(server.port);
      await clock.advance(950);
      await settle(server.port);
      expect(slow.heard.text).toBe('');
    }
    await slow.write('x');
    await settle(server.port);
    await clock.advance(150);
    expect(await slow.first()).toBe('HTTP/1.1 408 Request Timeout');
    await slow.closed();
  });

  it('[P-5] leaves alone who sends their body, and the connection stays for the next request', async () => {
    const { server, clock } = await start();
    const client = await open(server.port, ...post);
    await client.write('0123456789');
    expect(await client.first()).toBe('HTTP/1.1 200 OK');
    expect(clock.pending).toBe(0);
    client.heard.text = '';
    await client.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
    expect(await client.first()).toBe('HTTP/1.1 200 OK');
  });

  it('[P-5] does not count what waits to be read by the server', async () => {
    let read = (): void => undefined;
    const { server, clock } = await start({
      async answer(request, response) {
        if (request.method !== 'POST') return void response.end();
        await new Promise<void>((resolve) => (read = resolve));
        for await (const chunk of request as AsyncIterable<Buffer>) response.write(chunk);
        response.end();
      },
    });
    const client = await open(server.port, ...post);
    await client.write('01234');
    await settle(server.port);
    await clock.advance(30_000);
    expect(client.heard.text).toBe('');
    read();
    await client.write('56789');
    expect(await client.first()).toBe('HTTP/1.1 200 OK');
  });

  it('[P-5] ends with the answer where nobody reads a body', async () => {
    const { server, clock } = await start();
    const client = await open(server.port, 'GET / HTTP/1.1', 'Content-Length: 10');
    expect(await client.first()).toBe('HTTP/1.1 200 OK');
    await settle(server.port);
    await clock.advance(1000);
    await client.closed();
    expect(clock.pending).toBe(0);
  });

  it('[P-5] is bounded for the head too', async () => {
    const { server } = await start({ clock: systemClock, headersMs: 200 });
    const half = await open(server.port);
    await half.write('GET / HTT');
    const silent = await open(server.port);
    await Promise.all([half.closed(), silent.closed()]);
    expect(half.heard.text).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('how many connections there may be', () => {
  it('[P-5] is bounded: one more gets 503 at once, and the next is served when one has left', async () => {
    const { server, clock, refused } = await start({ maxConnections: 2 });
    const [one] = [await open(server.port, ...post), await open(server.port, ...post)];
    const third = await open(server.port, 'GET / HTTP/1.1');
    expect(await third.first()).toBe('HTTP/1.1 503 Service Unavailable');
    expect(third.heard.text).toContain('Retry-After: 1');
    await third.closed();
    expect(refused).toEqual([503]);
    await one.write('0123456789');
    await one.first();
    // The first is idle now: it is let go for the next.
    await (await open(server.port, 'GET / HTTP/1.1')).closed();
    await one.closed();
    const next = await open(server.port, 'GET / HTTP/1.1');
    expect(await next.first()).toBe('HTTP/1.1 200 OK');
    await clock.advance(60_000);
  });

  it('[P-5] cuts one that is turned away and does not leave', async () => {
    const { server, clock } = await start({ maxConnections: 1 });
    await open(server.port, ...post);
    const stays = connect({ host: '127.0.0.1', port: server.port, allowHalfOpen: true });
    onTestFinished(() => void stays.destroy());
    let isCut = false;
    stays.resume().on('error', () => undefined);
    stays.on('close', () => (isCut = true));
    await once(stays, 'end');
    expect(isCut).toBe(false);
    await clock.advance(1000);
    // Its half of the connection is gone: what it sends comes back as a reset.
    await expect
      .poll(() => {
        if (!isCut) stays.write('x');
        return isCut;
      })
      .toBe(true);
  });
});
