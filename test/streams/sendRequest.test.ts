import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeptConnections } from '../../src/streams/keptConnections.ts';
import { readBody } from '../../src/streams/readBody.ts';
import { headerList, sendRequest } from '../../src/streams/sendRequest.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function start(answer: Answer) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kept = new KeptConnections();
  onTestFinished(() => {
    kept.close();
    server.closeAllConnections();
    server.close();
  });
  let connections = 0;
  server.on('connection', () => connections++);
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/a?b=c`);
  const send = (signal = new AbortController().signal, body?: string) =>
    sendRequest({ method: 'POST', url, headers: headerList(url, { 'x-own': 'one' }), body, signal }, kept);
  return { send, connections: () => connections };
}

const all = { maxBytes: 1_000_000 };
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** Replaces the global `fetch` until the test is over. */
function replaceFetch(own: typeof fetch): void {
  const before = globalThis.fetch;
  globalThis.fetch = own;
  onTestFinished(() => void (globalThis.fetch = before));
}

describe.each(['by the dispatcher', 'by a fetch that was put in its place'])('a request, %s', (way) => {
  /** A `fetch` that somebody has wrapped, and how often it was called. */
  function take(): () => number {
    let calls = 0;
    const before = globalThis.fetch;
    if (way !== 'by the dispatcher') {
      replaceFetch((...asked) => {
        calls++;
        return before(...asked);
      });
    }
    return () => calls;
  }

  it('[R-14] goes with its path, its headers and its body, and its answer is read', async () => {
    const calls = take();
    const seen: unknown[] = [];
    const { send } = await start((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        const { 'x-own': own, 'user-agent': agent, 'accept-encoding': encoding } = request.headers;
        seen.push(request.url, own, agent, /\bgzip\b/.test(encoding ?? ''), body);
        response.writeHead(203, { 'x-it': ['1', '2'] }).end('whole');
      });
    });
    const answer = await send(undefined, 'body');
    expect([answer.status, answer.ok, answer.headers.get('x-it'), answer.headers.has('x-no')]).toEqual([
      ...[203, true, '1, 2', false],
    ]);
    const { bytes, end } = await readBody(answer, all);
    expect([textOf(bytes), end]).toEqual(['whole', 'ended']);
    expect(seen).toEqual(['/a?b=c', 'one', 'node', true, 'body']);
    expect(calls() > 0).toBe(way !== 'by the dispatcher');
  });

  it('[R-14] has what is compressed unpacked, and half of it is an error', async () => {
    take();
    const packed = gzipSync('x'.repeat(100_000));
    let bytes = packed.length;
    const { send } = await start((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed.subarray(0, bytes));
    });
    expect(textOf((await readBody(await send(), all)).bytes)).toHaveLength(100_000);
    bytes -= 5;
    expect((await readBody(await send(), all)).end).toBe('broken');
  });

  it('[R-14] has an answer unpacked that was packed more than once, and half of it is an error', async () => {
    take();
    const packed = brotliCompressSync(gzipSync(deflateRawSync('x'.repeat(300_000))));
    let bytes = packed.length;
    const { send } = await start((_, response) => {
      response.writeHead(200, { 'content-encoding': 'deflate, GZIP,br' }).end(packed.subarray(0, bytes));
    });
    const whole = await readBody(await send(), all);
    expect([textOf(whole.bytes).length, whole.end]).toEqual([300_000, 'ended']);
    bytes -= 5;
    expect((await readBody(await send(), all)).end).toBe('broken');
  });

  it.each(['identity', 'constructor', '__proto__', 'gzip, toString', 'unheard-of'])(
    '[R-14] has an answer as it came whose encoding nobody knows: %s',
    async (encoding) => {
      take();
      const { send } = await start((_, response) => {
        response.writeHead(200, { 'content-encoding': encoding }).end('as it came');
      });
      const { bytes, end } = await readBody(await send(), all);
      expect([textOf(bytes), end]).toEqual(['as it came', 'ended']);
    },
  );

  it('[R-14] whose connection breaks in the middle of its answer is broken', async () => {
    take();
    const { send } = await start((_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('half', () => response.destroy());
    });
    expect((await readBody(await send(), all)).end).toBe('broken');
  });

  it('[R-14] [S-2] ends with its signal: before it is sent, while it waits, and while its answer is read', async () => {
    take();
    let left = 0;
    const { send } = await start((request, response) => {
      request.socket.on('close', () => left++);
      if (request.headers['content-length'] !== '4') response.writeHead(200).write('begun');
    });
    const reason = new Error('given up');
    await expect(send(AbortSignal.abort(reason))).rejects.toBe(reason);
    const own = new AbortController();
    const waiting = send(own.signal, 'wait');
    setImmediate(() => own.abort(reason));
    await expect(waiting).rejects.toBe(reason);
    const other = new AbortController();
    const reader = (await send(other.signal)).body?.getReader();
    expect(textOf((await reader?.read())?.value ?? new Uint8Array())).toBe('begun');
    const rest = reader?.read();
    other.abort(reason);
    await expect(rest).rejects.toBe(reason);
    await expect.poll(() => left).toBeGreaterThan(0);
  });

  it('[R-14] that nobody can take is told so', async () => {
    take();
    const url = new URL('http://127.0.0.1:1/');
    const sent = sendRequest(
      { method: 'GET', url, headers: [], signal: new AbortController().signal },
      new KeptConnections(),
    );
    const error: unknown = await sent.catch((each: unknown) => each);
    expect(error).toBeInstanceOf(Error);
  });

  it('[R-14] keeps its connection for the next one once its answer was read', async () => {
    take();
    const { send, connections } = await start((_, response) => response.end('whole'));
    for (let request = 0; request < 5; request++) await readBody(await send(), all);
    // undici has another one for a request within the turn in which the last one ended.
    expect(connections()).toBeLessThan(3);
  });
});

describe('an answer that nobody reads for now', () => {
  it('[R-14] [F-9] has its server wait, and is whole in the end', async () => {
    let waits = false;
    const bytes = 20 * 1024 * 1024;
    const { send } = await start((_, response) => {
      waits = !response.write(Buffer.alloc(bytes));
      response.end();
    });
    const answer = await send();
    await new Promise((resolve) => setImmediate(resolve));
    expect(waits).toBe(true);
    expect(answer.arrived).toBeUndefined();
    expect((await readBody(answer, { maxBytes: bytes })).bytes).toHaveLength(bytes);
  });
});
