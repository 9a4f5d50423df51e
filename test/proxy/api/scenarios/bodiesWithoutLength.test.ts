import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelEvents } from '../../../../testing/modelEvents.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

type Ending = 'end' | 'reset with its last bytes';

/** The proxy before an upstream that sends these bytes, and closes the connection or resets it. */
async function startBefore(headers: readonly string[], body: string | Uint8Array, ending: Ending) {
  const upstream = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(
        Buffer.concat([Buffer.from(['HTTP/1.1 200 OK', ...headers, '', ''].join('\r\n')), Buffer.from(body)]),
      );
      if (ending === 'end') socket.end();
      // The proxy shares the thread: it reads nothing in between. Node up to 24 tells this as an end.
      else socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => {
    upstream.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void upstream.close());
  return startApiProxy({ upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` });
}

const json = 'content-type: application/json';
const plain = 'content-type: text/plain';
const sse = 'content-type: text/event-stream';
const close = 'connection: close';
const said = '{"content":[{"type":"text","text":"all of [it]"}]}';
const { start, text, last } = modelEvents('messages', { text: 'Hello there.', number: 1 });
const asked = { body: streamed({ stream: false }) };
const reset = 'reset with its last bytes';

describe('an answer that ends with its connection', () => {
  it.each([
    ['half of a JSON body', [json, close], said.slice(0, 30), reset],
    ['a text', [plain, close], 'half of an ans', reset],
    ['a text without a word of the connection', [plain], 'half of an ans', reset],
    ['a JSON body', [json, close], said, reset],
    ['a packed body', [plain, close, 'content-encoding: gzip'], gzipSync(said), reset],
    ['a stream that is none of a model', [sse, close], 'data: {"foo":1}\n\n', reset],
    ['half of a JSON body', [json, close], said.slice(0, 30), 'end'],
    ['half of a problem in JSON', ['content-type: application/problem+json; charset=utf-8'], '{"a":"', 'end'],
  ] as const)('[R-14] [E-7] is cut for its client as well: %s, %s', async (_, headers, body, ending) => {
    const { ask, of } = await startBefore(headers, body, ending);
    // Another path than those of models: nothing is known of its events.
    const got = await ask({ ...asked, path: headers[0] === sse ? '/v1beta/other' : '/v1/messages' }).got.catch(
      () => undefined,
    );
    expect(got?.whole ?? false).toBe(false);
    expect(of('call.failed')[0]?.failure).toMatchObject({ kind: 'transient', outcome: 'unknown' });
    expect(of('call.succeeded')).toEqual([]);
  });

  it.each([
    ['a JSON body', [json, close], said, 'end'],
    ['a text', [plain, close], 'all of {it', 'end'],
    ['no body', [json, close], '', 'end'],
    ['a body of its length', [json, `content-length: ${said.length}`], said, reset],
    [
      'a body of chunks',
      [json, 'transfer-encoding: chunked'],
      `${said.length.toString(16)}\r\n${said}\r\n0\r\n\r\n`,
      reset,
    ],
  ] as const)('[R-14] [E-7] is whole for its client as well: %s, %s', async (_, headers, body, ending) => {
    const { ask, of } = await startBefore(headers, body, ending);
    expect(await ask(asked).got).toMatchObject({ status: 200, whole: true });
    expect(of('call.failed')).toEqual([]);
  });

  it.each(['end', reset] as const)('[R-14] [E-7] is a stream that is whole with its last event: %s', async (ending) => {
    const { ask } = await startBefore([sse, close], [...start, ...text, ...last].join(''), ending);
    expect(await ask().got).toMatchObject({ status: 200, whole: true });
  });

  it('[R-14] [E-7] is a stream that is cut without its last event', async () => {
    const { ask } = await startBefore([sse, close], [...start, ...text].join(''), reset);
    expect((await ask().got).text).not.toContain('message_stop');
  });

  it('[R-14] [E-7] without a body leaves no listener on its connection, which goes on', async () => {
    const upstream = createHttpServer((request, response) => {
      request.resume();
      response.writeHead(204).end();
    });
    await new Promise<void>((resolve) => {
      upstream.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => {
      upstream.closeAllConnections();
      upstream.close();
    });
    const { port } = upstream.address() as AddressInfo;
    const opened = new Set<Socket>();
    const note = (message: unknown): void => void opened.add((message as { socket: Socket }).socket);
    subscribe('net.client.socket', note);
    onTestFinished(() => void unsubscribe('net.client.socket', note));
    const { ask } = await startApiProxy({ upstream: `http://127.0.0.1:${port}` });
    for (let count = 0; count < 12; count++) expect((await ask(asked).got).status).toBe(204);
    const kept = [...opened].filter((socket) => socket.remotePort === port);
    expect(kept).toHaveLength(1);
    expect(kept[0]?.listenerCount('end')).toBeLessThan(5);
  });
});
