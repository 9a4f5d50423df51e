import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelEvents } from '../../../../testing/modelEvents.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const paths = { messages: '/v1/messages', responses: '/v1/responses', chat: '/v1/chat/completions' } as const;
const cases = (['messages', 'responses', 'chat'] as const).flatMap((dialect) =>
  ([1, 50, 100_000] as const).map((size) => [dialect, size] as const),
);

describe('the ends of lines in a stream', () => {
  it.each(cases)(
    '[E-7] a stream of %s whose lines end with CR alone, in parts of %d bytes, passes and is asked for once',
    async (dialect, size) => {
      const { start, text, last, ping } = modelEvents(dialect, { text: 'Hello.', number: 1 });
      const bytes = Buffer.from([ping, ...start, ...text, ...last].join('').replaceAll('\n', '\r'));
      let requests = 0;
      const upstream = createServer((_request, response) => {
        requests++;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
        response.end();
      });
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void upstream.close());
      const { ask } = await startApiProxy({
        upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      });
      const got = await ask({ path: paths[dialect], body: streamed() }).got;
      expect(got).toMatchObject({ status: 200, whole: true, text: bytes.toString() });
      expect(requests).toBe(1);
    },
  );
});
