import { createServer, type Socket, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ModelAnswer } from '../../../../testing/faultyModelApi.ts';
import { startApiProxy, streamed } from '../startApiProxy.ts';

const nextTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('before the first of an answer', () => {
  it.each<[string, readonly ModelAnswer[]]>([
    ['529', [{ do: 'refuse', status: 529, times: 10 }]],
    ['503', [{ do: 'refuse', status: 503, times: 3 }]],
    ['500', [{ do: 'refuse', status: 500, times: 3 }]],
    ['502, 504, 520', [502, 504, 520].map((status) => ({ do: 'refuse', status }))],
    ['429 with a hint', [{ do: 'refuse', status: 429, headers: { 'retry-after-ms': '5' }, times: 2 }]],
    ['429 without a hint', [{ do: 'refuse', status: 429, times: 2 }]],
    ['a reset', [{ do: 'reset', times: 3 }]],
    ['headers, then a reset', [{ until: 'headers', then: 'reset' }]],
    ['headers, then a clean end', [{ until: 'headers', then: 'end' }]],
    ['an error event', [{ until: 'headers', then: 'error', error: 'overloaded_error' }]],
  ])('[E-7] %s: the request is sent again, and the client gets the answer', async (_, script) => {
    const { ask, api, of } = await startApiProxy({ script: [...script, {}] });
    const got = await ask().got;
    expect(got).toMatchObject({ status: 200, whole: true });
    expect(got.text.match(/message_start/g)).toHaveLength(2);
    expect(new Set(api.requests.map((each) => each.hash)).size).toBe(1);
    expect(of('call.retried').length).toBe(api.requests.length - 1);
    expect(of('call.failed')).toEqual([]);
  });

  it.each([
    ['response.created alone', { until: 'start', then: 'reset' }],
    ['server_is_overloaded', { until: 'start', then: 'error', error: 'server_is_overloaded' }],
  ] as const)('[E-7] of the Responses API %s may be followed by another attempt', async (_, first) => {
    const { ask, api } = await startApiProxy({ script: [first, {}] });
    const got = await ask({ path: '/v1/responses' }).got;
    expect(got.text.match(/"type":"response.created"/g)).toHaveLength(1);
    expect(got.text).toContain('response.completed');
    expect(api.requests).toHaveLength(2);
  });

  it.each(['context_length_exceeded', 'invalid_prompt'])('[E-7] a stream that begins with %s passes', async (error) => {
    const { ask, api } = await startApiProxy({ script: [{ until: 'start', then: 'error', error }, {}] });
    const got = await ask({ path: '/v1/responses' }).got;
    expect(got.text).toContain(`"code":"${error}"`);
    expect(got.whole).toBe(true);
    expect(api.requests).toHaveLength(1);
  });

  it('[E-7] an upstream without an answer is given up after 120 s, and asked again', async () => {
    const { ask, api, clock, told } = await startApiProxy({ script: [{ do: 'hang' }, {}] });
    clock.stop();
    const asking = ask();
    await api.reached(1);
    clock.skip(119_000);
    await nextTurns();
    expect(api.requests[0]?.aborted).toBe(false);
    clock.skip(1000);
    expect((await told('call.retried')).kind).toBe('timeout');
    clock.skip(1);
    await api.aborted(1);
    expect((await asking.got).status).toBe(200);
    expect(api.requests).toHaveLength(2);
  });

  it('[E-7] 200 and then silence is given up after 90 s, and asked again', async () => {
    const limits = { headersMs: '5h', budgetMs: '10h' } as const;
    const { ask, api, clock, of } = await startApiProxy({ script: [{ until: 'start', then: 'stall' }, {}], ...limits });
    clock.stop();
    const asking = ask({ path: '/v1/responses' });
    // Nobody sees from outside when the headers, which are held back, have come.
    for (let skipped = 0; of('call.retried').length === 0 && skipped < 100; skipped++) {
      clock.skip(90_000);
      await nextTurns();
    }
    expect(of('call.retried')[0]?.kind).toBe('timeout');
    clock.skip(1);
    expect((await asking.got).status).toBe(200);
    expect(api.requests).toHaveLength(2);
  });

  it('[E-7] when the budget is spent the client gets 503 in the words of its provider', async () => {
    const { ask, api, clock, told } = await startApiProxy({ script: [{ do: 'hang' }] });
    clock.stop();
    const asking = ask();
    await api.reached(1);
    clock.skip(120_000);
    await told('call.retried');
    clock.skip(1);
    await api.reached(2);
    clock.skip(119_999);
    const got = await asking.got;
    expect(got).toMatchObject({ status: 503, headers: { 'retry-after': '1', 'x-should-retry': 'true' } });
    expect(JSON.parse(got.text)).toMatchObject({ type: 'error', error: { type: 'api_error' } });
    expect(api.requests).toHaveLength(2);
  });

  it('[E-7] when the tries are spent the last answer passes as it came', async () => {
    const { ask, api } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, headers: { 'request-id': 'req_1', 'x-other': 'kept' } }],
      policy: { retry: { maxAttempts: 3, backoff: { kind: 'constant', delayMs: 1 } } },
    });
    expect(await ask().got).toMatchObject({ status: 529, headers: { 'request-id': 'req_1', 'x-other': 'kept' } });
    expect(api.requests).toHaveLength(3);
  });

  it('[E-7] `x-should-retry: false` is obeyed', async () => {
    const { ask, api } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, headers: { 'x-should-retry': 'false' } }, {}],
    });
    expect((await ask().got).status).toBe(529);
    expect(api.requests).toHaveLength(1);
  });

  it('[E-7] a hint that is longer than the budget is passed at once', async () => {
    const { ask, api } = await startApiProxy({
      script: [{ do: 'refuse', status: 529, headers: { 'retry-after': '300' } }, {}],
    });
    expect(await ask().got).toMatchObject({ status: 529, headers: { 'retry-after': '300' } });
    expect(api.requests).toHaveLength(1);
  });

  it('[E-7] Codex learns when to come again where a 429 does not say it', async () => {
    const { ask } = await startApiProxy({
      script: [{ do: 'refuse', status: 429 }],
      policy: { maxAttempts: 2, retry: { backoff: { kind: 'constant', delayMs: 1 } } },
    });
    const codex = { path: '/v1/responses', headers: { 'user-agent': 'codex_exec/0.169.0' } };
    expect(await ask(codex).got).toMatchObject({ status: 429, headers: { 'retry-after': '30' } });
    expect((await ask().got).headers).not.toHaveProperty('retry-after');
  });

  it('[E-7] a client that leaves while its request waits ends the tries', async () => {
    const { ask, api, told } = await startApiProxy({ script: [{ do: 'refuse', status: 529 }], policy: {} });
    const asking = ask();
    await told('call.retried');
    asking.leave();
    expect((await told('call.failed')).failure).toMatchObject({ kind: 'cancelled', reason: 'reader_left' });
    expect(api.requests).toHaveLength(1);
  });

  it('[E-7] [R-12] what changes something is not sent again after the connection broke', async () => {
    const sockets: Socket[] = [];
    let connections = 0;
    const upstream = createServer((socket) => {
      connections++;
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => socket.destroy());
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      upstream.close();
      for (const socket of sockets) socket.destroy();
    });
    const { ask } = await startApiProxy({
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      policy: { maxAttempts: 3, retry: { backoff: { kind: 'constant', delayMs: 1 } } },
    });
    const { status, headers } = await ask({ path: '/v1/files', body: 'file' }).got;
    // Nor is its client to send it again.
    expect([status, headers['x-should-retry']]).toEqual([502, 'false']);
    expect(connections).toBe(1);
    expect((await ask({ body: streamed() }).got).status).toBe(503);
    expect(connections).toBe(4);
  });

  it('[E-7] a kept connection that the upstream closes under a request is replaced at once, without a retry', async () => {
    let requests = 0;
    const sockets: Socket[] = [];
    const upstream = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      let onThis = 0;
      socket.on('data', () => {
        requests++;
        // The second request of a connection meets its end.
        if (onThis++ > 0) socket.resetAndDestroy();
        else socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      upstream.close();
      for (const socket of sockets) socket.destroy();
    });
    const { ask, of } = await startApiProxy({
      upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    });
    const body = streamed({ stream: false });
    expect((await ask({ body }).got).text).toBe('{}');
    expect((await ask({ body }).got).text).toBe('{}');
    expect(requests).toBe(3);
    expect(of('call.retried')).toEqual([]);
  });
});
