import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpIntegration, HttpParse, HttpStreamParse } from '../../../../src/index.ts';
import { startGateway } from '../startHttp.ts';

type Ending = 'end' | 'reset' | 'reset at once';

/** Answers each request with these bytes, then ends the connection, or resets it: once `fetch` has read them, or so that it reads both together. */
async function startRaw(bytes: Uint8Array, ending: Ending): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      if (ending === 'end') socket.end(bytes);
      else socket.write(bytes);
      // Client and server share a thread: nothing is read in between. Node up to 24 tells this as an end.
      if (ending === 'reset at once') socket.resetAndDestroy();
    });
  });
  if (ending === 'reset') {
    // A reset takes with it what was not read.
    const read = (): void => void setImmediate(() => open.forEach((socket) => socket.resetAndDestroy()));
    subscribe('undici:request:headers', read);
    onTestFinished(() => void unsubscribe('undici:request:headers', read));
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const head = (...lines: readonly string[]): string =>
  ['HTTP/1.1 200 OK', 'content-type: text/event-stream', ...lines, '', ''].join('\r\n');
/** Whole by what it says, as JSON, as an event and as a line. */
const said = 'data: 1\n\n';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const bytesOf = (...parts: readonly (string | Uint8Array)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));
const close = 'connection: close';
const chunked = 'transfer-encoding: chunked';
const long = `data: ${'1'.repeat(20)}\n\n`.repeat(50) + said;

const halves: readonly (readonly [string, Uint8Array, Ending])[] = [
  ['chunked, ended before its last chunk', bytesOf(head(chunked), chunk(said)), 'end'],
  ['chunked, reset before its last chunk', bytesOf(head(chunked), chunk(said)), 'reset'],
  ['chunked to the end of the connection, ended', bytesOf(head(chunked, close), chunk(said)), 'end'],
  ['chunked to the end of the connection, reset', bytesOf(head(chunked, close), chunk(said)), 'reset'],
  ['chunked to the end of the connection, ended in a chunk', bytesOf(head(chunked, close), `64\r\n${said}`), 'end'],
  ['chunked to the end of the connection, ended in a size', bytesOf(head(chunked, close), chunk(said), '6'), 'end'],
  [
    'chunked to the end of the connection, ended in the last',
    bytesOf(head(chunked, close), chunk(said), '0\r\n'),
    'end',
  ],
  ['without a length, reset', bytesOf(head(close), said), 'reset'],
  ['without a length, reset with its last bytes', bytesOf(head(close), said), 'reset at once'],
  ['without a length or a byte, reset with its head', bytesOf(head(close)), 'reset at once'],
  ['to the last chunk, reset with what came before it', bytesOf(head(chunked), chunk(said)), 'reset at once'],
  ['shorter than its length, reset with its last bytes', bytesOf(head('content-length: 100'), said), 'reset at once'],
  [
    'compressed, without a length, reset',
    bytesOf(head('content-encoding: gzip', close), gzipSync(said)),
    'reset at once',
  ],
  ['without a length and a word of the connection, reset', bytesOf(head(), said), 'reset'],
  ['shorter than its length, ended', bytesOf(head('content-length: 100'), said), 'end'],
  ['shorter than its length, reset', bytesOf(head('content-length: 100'), said), 'reset'],
  ['shorter than its length, closed', bytesOf(head('content-length: 100', close), said), 'end'],
  ['shorter than its length, closed by a reset', bytesOf(head('content-length: 100', close), said), 'reset'],
];
const packers = { gzip: gzipSync, 'x-gzip': gzipSync, br: brotliCompressSync, deflate: deflateSync } as const;
const coded = [...Object.entries(packers), ['deflate', deflateRawSync] as const];
const packed = coded.flatMap(([name, pack], at) => {
  const bytes = pack(long);
  const half = bytes.subarray(0, bytes.length - 5);
  const encoded = `content-encoding: ${name}`;
  return [
    [`${name} (${at}) to the end of the connection`, bytesOf(head(encoded, close), half), 'end'],
    [`${name} (${at}) of the length it says`, bytesOf(head(encoded, `content-length: ${half.length}`), half), 'end'],
    [
      `${name} (${at}) to the last chunk`,
      bytesOf(head(encoded, chunked), `${half.length.toString(16)}\r\n`, half, '\r\n0\r\n\r\n'),
      'end',
    ],
  ] as const;
});

async function startApi<const P extends HttpParse>(url: string, parse: P): Promise<HttpIntegration<P>> {
  let api!: HttpIntegration<P>;
  await startGateway((gateway) => {
    api = gateway.http('api', { baseUrl: url, parse, policy: { maxAttempts: 1 } });
  });
  return api;
}

const lost = { kind: 'transient', reason: 'connection_lost', outcome: 'unknown' };

/** Those that some Node takes for whole, one of each kind. */
const some = [4, 7, 8, 9, 10].flatMap((at) => halves.slice(at - 1, at)).concat(packed.slice(0, 1));

describe.each([
  ['text', [...halves, ...packed]],
  ['bytes', some],
  ['json', some],
] as const)('half an answer, read as %s', (parse, answers) => {
  it.each(answers)('[R-14] is a connection that broke: %s', async (_, bytes, ending) => {
    const api = await startApi(await startRaw(bytes, ending), parse);
    expect(await api.call({ path: '' })).toMatchObject({ ok: false, failure: lost });
  });
});

describe.each([
  ['events', [...halves, ...packed.slice(0, 4)]],
  ['json', some],
  ['lines', some],
  ['bytes', some],
] as const)('half an answer, streamed as %s', (parse: HttpStreamParse, answers) => {
  it.each(answers)('[R-13] [R-14] is a connection that broke: %s', async (_, bytes, ending) => {
    const api = await startApi(await startRaw(bytes, ending), 'json');
    const { chunks, outcome } = api.stream({ path: '' }, { parse, events: undefined } as { parse: 'lines' });
    const read = async (): Promise<void> => {
      for await (const each of chunks) expect(each).toBeDefined();
    };
    await expect(read()).rejects.toMatchObject({ failure: lost });
    expect(await outcome).toMatchObject({ ok: false, failure: lost });
  });
});

describe('a whole answer', () => {
  const gzipped = gzipSync(long);
  it.each([
    ['to the end of its connection', bytesOf(head(close), said), said],
    ['to the end of a connection that does not say so', bytesOf(head(), said), said],
    ['of the length it says, before its connection is closed', bytesOf(head('content-length: 9', close), said), said],
    [
      'to its last chunk, before its connection is closed',
      bytesOf(head(chunked, close), chunk(said), '0\r\n\r\n'),
      said,
    ],
    ['to its last chunk, with trailers', bytesOf(head(chunked), chunk(said), '0\r\nx-sum: 1\r\n\r\n'), said],
    ['compressed, to the end of its connection', bytesOf(head('content-encoding: gzip', close), gzipped), long],
    ['compressed, of no byte', bytesOf(head('content-encoding: gzip', 'content-length: 0')), ''],
    ['in a coding that nobody knows', bytesOf(head('content-encoding: x-own', close), said), said],
  ])('[R-14] goes %s', async (_, bytes, text) => {
    const api = await startApi(await startRaw(bytes, 'end'), 'text');
    expect(await api.call({ path: '' })).toMatchObject({ ok: true, value: { body: text } });
  });

  it.each([
    ['of the length it says', 'reset', bytesOf(head('content-length: 9', close), said)],
    ['of the length it says', 'reset at once', bytesOf(head('content-length: 9', close), said)],
    ['to its last chunk', 'reset at once', bytesOf(head(chunked, close), chunk(said), '0\r\n\r\n')],
  ] as const)('[R-14] was whole before its connection was reset: %s, %s', async (_, ending, whole) => {
    const api = await startApi(await startRaw(whole, ending), 'text');
    expect(await api.call({ path: '' })).toMatchObject({ ok: true, value: { body: said } });
  });

  it('[R-14] is one also where its reader takes its time: the connection was closed in order', async () => {
    const api = await startApi(await startRaw(bytesOf(head(close), Buffer.alloc(3_000_000, 'x\n')), 'end'), 'json');
    const { chunks, outcome } = api.stream({ path: '' }, { parse: 'bytes' });
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += (chunk as Uint8Array).byteLength;
      await new Promise(setImmediate);
    }
    expect(bytes).toBe(3_000_000);
    expect(await outcome).toMatchObject({ ok: true });
  });

  it('[R-14] that was reset is told whoever has asked for its other end before', async () => {
    const ask = (message: unknown): void => void (message as { socket: Socket }).socket.remoteAddress;
    subscribe('undici:client:sendHeaders', ask);
    onTestFinished(() => void unsubscribe('undici:client:sendHeaders', ask));
    const api = await startApi(await startRaw(bytesOf(head(close), said), 'reset at once'), 'text');
    expect(await api.call({ path: '' })).toMatchObject({ ok: false, failure: lost });
  });

  it('[R-14] that cannot be unpacked is malformed, and ends', async () => {
    const bytes = bytesOf(
      head('content-encoding: gzip', close),
      gzipped.subarray(0, 20),
      'what?',
      gzipped.subarray(20),
    );
    const api = await startApi(await startRaw(bytes, 'end'), 'text');
    expect(await api.call({ path: '' })).toMatchObject({ failure: { kind: 'protocol', code: 'Z_DATA_ERROR' } });
  });

  it('[R-14] to HEAD has no body, whatever its headers say', async () => {
    const bytes = bytesOf(head(chunked, 'content-encoding: gzip', close));
    const api = await startApi(await startRaw(bytes, 'end'), 'text');
    expect(await api.call({ method: 'HEAD', path: '' })).toMatchObject({ ok: true, value: { body: '' } });
  });
});
