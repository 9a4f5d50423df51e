import { createServer, type AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelEvents } from '../../../../testing/modelEvents.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const encodings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync } as const;
const json = JSON.stringify({ type: 'message', content: Array.from({ length: 2000 }, (_, at) => `part ${at * 7919}`) });
const { start, text, last } = modelEvents('messages', { text: 'Hello there.', number: 1 });

/** The proxy before an upstream that sends these bytes after its headers, and closes the connection. */
async function startBefore(headers: readonly string[], body: Buffer) {
  const upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n'));
      socket.end(body);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void upstream.close());
  return startApiProxy({ upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` });
}

describe('a compressed answer', () => {
  it.each(Object.keys(encodings) as (keyof typeof encodings)[])(
    '[E-7] with %s that ends with its connection passes when it is whole, and is cut when it is half',
    async (encoding) => {
      const body = encodings[encoding](json);
      const headers = ['Content-Type: application/json', `Content-Encoding: ${encoding}`, 'Connection: close'];
      const asked = { body: streamed({ stream: false }), headers: { 'accept-encoding': encoding } };
      const whole = await startBefore(headers, body);
      expect(await whole.ask(asked).got).toMatchObject({ status: 200, whole: true });
      const half = await startBefore(headers, body.subarray(0, body.length / 2));
      expect(await half.ask(asked).got).toMatchObject({ status: 200, whole: false });
      expect(half.of('call.failed')[0]?.failure).toMatchObject({ kind: 'transient', reason: 'connection_lost' });
    },
  );

  it('[E-7] of an encoding that is not known, of another one than it says, or without a body passes as it came', async () => {
    const none = await startBefore(['Content-Encoding: gzip', 'Connection: close'], Buffer.alloc(0));
    expect(await none.ask({ method: 'HEAD', path: '/' }).got).toMatchObject({ status: 200, whole: true });
    for (const encoding of ['zstd', 'gzip']) {
      const { ask } = await startBefore([`Content-Encoding: ${encoding}`], Buffer.from('no such thing'));
      expect(await ask({ body: streamed({ stream: false }) }).got).toMatchObject({
        whole: true,
        text: 'no such thing',
      });
    }
  });

  it.each(['gzip', undefined])(
    '[E-7] (%s) that is a stream is broken off where its last event is missing, though all of its length came',
    async (encoding) => {
      const headers = [
        'Content-Type: text/event-stream',
        ...(encoding === undefined ? [] : ['Content-Encoding: gzip']),
      ];
      for (const [events, isWhole] of [
        [[...start, ...text, ...last], true],
        [[...start, ...text], false],
      ] as const) {
        const body = encoding === undefined ? Buffer.from(events.join('')) : gzipSync(events.join(''));
        const { ask } = await startBefore([...headers, `Content-Length: ${body.length}`], body);
        const asked = ask({ headers: { 'user-agent': 'claude-cli/2' } });
        expect(await asked.got.catch(() => ({ whole: false }))).toMatchObject({ whole: isWhole });
      }
    },
  );
});
