import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/policy/failures/failure.ts';
import { readMessage } from '../../../src/protocol/mcp/message.ts';
import { ClientCalls, type ClientCallsHost } from '../../../proxy/mcp/clientCalls.ts';
import type { ProxyScope } from '../../../proxy/mcp/proxyScope.ts';
import { startProxy } from './startProxy.ts';

describe('the lines of requests that wait for their server', () => {
  it('[P-3] are counted as long as they are kept, so that no more of them is read than there is room for', () => {
    const limits = { idleMs: 1, attemptMs: 1, overallMs: 1 };
    const scope = {
      name: 'kb',
      clock: { now: () => 0 },
      record: { requestParams: {} },
      runtime: { tracing: {}, lasting: { add: () => () => undefined, began: () => undefined, ended: () => undefined } },
      settings: {
        policy: { retry: { maxAttempts: 4 } },
        limitsOf: () => limits,
        toolsBy: () => ({ get: () => undefined }),
      },
    } as unknown as ProxyScope;
    const retained: number[] = [];
    const ends: ((outcome: Outcome<never>) => void)[] = [];
    const calls = new ClientCalls(scope, {
      path: {
        start: (_call: unknown, _settings: unknown, end: (typeof ends)[0]) => (ends.push(end), { settings: {} }),
      },
      repetition: { begins: () => undefined },
      retained: (bytes: number) => retained.push(bytes),
      refuse: () => undefined,
    } as unknown as ClientCallsHost);
    for (const [id, bytes] of [
      ['a', 100],
      ['b', 50],
    ] as const) {
      const request = readMessage(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }));
      if (request.kind === 'request') calls.start(request, new Uint8Array(bytes));
    }
    const failure = { kind: 'crash' } as never;
    for (const end of ends) end({ ok: false, failure });
    expect(retained).toEqual([100, 150, 50, 0]);
  });
});

describe('a cancellation by the client', () => {
  it('[P-3] of an id that two requests in flight have ends the later one alone', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'hold', key: 'first' }, 4);
    void proxy.call('act', { do: 'hold', key: 'second' }, 4);
    proxy.notify('notifications/cancelled', { requestId: 4, reason: 'not wanted' });
    expect(await proxy.told('call.failed')).toMatchObject({ failure: { kind: 'cancelled' } });
    // The server answers in this order, so whatever the first release brings the client has been read with the second's.
    await proxy.call('act', { do: 'release', key: 'second' });
    await proxy.call('act', { do: 'release', key: 'first' });
    const answers = proxy.lines.filter((line) => line.includes('"id":4'));
    expect(answers.map((line) => /released \w+/.exec(line)?.[0])).toEqual(['released first']);
  });
});
