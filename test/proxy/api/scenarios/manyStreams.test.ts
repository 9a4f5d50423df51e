import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const event = `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', text: 'x'.repeat(1000) })}\n\n`;
const last = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const events = 30_000;

/** An upstream that writes as fast as it is read; `written` tells how much of a stream it got rid of. */
async function startFlood() {
  const written = new Map<string, number>();
  const server = createServer((request, response: ServerResponse) => {
    const name = request.url ?? '';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    request.resume();
    const count = name.startsWith('/slow') ? events : 20;
    let sent = 0;
    const go = (): void => {
      while (sent < count) {
        sent++;
        written.set(name, sent);
        if (!response.write(event)) {
          response.once('drain', go);
          return;
        }
      }
      response.end(last);
    };
    response.on('error', () => undefined);
    go();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, written };
}

describe('many streams at once', () => {
  it('[E-7] one slow reader holds back its own stream alone, and nothing is piled up for it', async () => {
    const flood = await startFlood();
    const { ask, server, clock, of } = await startApiProxy({ upstream: flood.url });
    const body = streamed();
    const slow = connect(server.port, '127.0.0.1');
    onTestFinished(() => void slow.destroy());
    slow.write(
      `POST /slow/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    slow.pause();
    const others = await Promise.all(Array.from({ length: 99 }, (_, at) => ask({ path: `/${at}/v1/messages` }).got));
    expect(others.every(({ text, whole }) => whole && text.endsWith(last))).toBe(true);
    const before = flood.written.get('/slow/v1/messages') ?? 0;
    expect(before).toBeLessThan(events);
    // A slow reader is not a slow upstream: no limit on silence ends it.
    clock.skip(3_600_000);
    expect(of('call.failed')).toEqual([]);
    let bytes = 0;
    let tail = '';
    slow.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      tail = (tail + chunk.toString('latin1')).slice(-200);
      if (tail.includes('message_stop')) slow.destroy();
    });
    slow.resume();
    await once(slow, 'close');
    expect(bytes).toBeGreaterThan(events * event.length);
    expect(of('call.failed')).toEqual([]);
  });
});
