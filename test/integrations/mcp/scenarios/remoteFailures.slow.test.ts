import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import type { McpHttpFault, McpHttpFaultMatch } from '../../../../testing/mcpHttpFaults.ts';
import { skipUntil, startRemote } from '../startRemote.ts';

const find = { name: 'find', arguments: { text: 'x' } };
const lost = { kind: 'crash', reason: 'connection_lost', outcome: 'unknown' } as const;
const silent503 = { kind: 'crash', outcome: 'unknown', status: 503 } as const;
const protocol = { kind: 'protocol', outcome: 'unknown' } as const;

type Fault = McpHttpFault & McpHttpFaultMatch;

describe('a failed call of a remote MCP tool', () => {
  it.each<[string, Fault, object, number]>([
    ['a stream that ends without its answer', { do: 'lost_stream' }, lost, 1],
    ['a stream that breaks', { do: 'lost_stream', how: 'reset' }, lost, 1],
    ['a connection that breaks before any header', { do: 'disconnect' }, lost, 1],
    ['one that ends so', { do: 'disconnect', how: 'end' }, lost, 1],
    ['a body that is cut', { do: 'cut' }, lost, 1],
    ['202 to a request', { do: 'accepted' }, { ...protocol, status: 202 }, 1],
    ['a page', { do: 'html' }, { ...protocol, status: 200 }, 1],
    ['no content', { do: 'status', status: 204 }, { ...protocol, status: 204 }, 0],
    ['half an answer', { do: 'malformed' }, protocol, 1],
    ['too large an answer', { do: 'oversize', bytes: 5000 }, { kind: 'protocol', reason: 'message_too_large' }, 1],
    ['a refusal of its own', { do: 'error', code: -32_602, message: 'no' }, { kind: 'permanent', code: -32_602 }, 1],
    ['an unknown method', { do: 'error', code: -32_601, message: 'no' }, { code: -32_601 }, 1],
    ['403', { do: 'status', status: 403 }, { kind: 'auth', outcome: 'failed', status: 403 }, 0],
    [
      '429',
      { do: 'status', status: 429, headers: { 'retry-after-ms': '70' } },
      { kind: 'rate_limit', status: 429, retryAfterMs: 70 },
      0,
    ],
    [
      '503 with a time to come again',
      { do: 'status', status: 503, headers: { 'retry-after': '7' } },
      { kind: 'transient', outcome: 'failed', status: 503, retryAfterMs: 7000 },
      0,
    ],
    [
      '503 that names the session',
      { do: 'status', status: 503, headers: { 'mcp-session-id': 'it' } },
      { kind: 'transient', outcome: 'failed', status: 503 },
      0,
    ],
    [
      '503 in the words of the protocol',
      { do: 'status', status: 503, body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"full"}}' },
      { kind: 'transient', outcome: 'failed', status: 503 },
      0,
    ],
    ['503 of a gateway', { do: 'status', status: 503, body: '{"message":"Service Unavailable"}' }, silent503, 0],
    ['a bare 503', { do: 'status', status: 503, body: '' }, silent503, 0],
    ['500', { do: 'status', status: 500 }, { kind: 'crash', outcome: 'unknown', status: 500 }, 0],
    ['502', { do: 'status', status: 502, body: 'busy' }, { kind: 'crash', outcome: 'unknown', status: 502 }, 0],
    ['504', { do: 'status', status: 504 }, { kind: 'timeout', outcome: 'unknown', status: 504 }, 0],
    ['408', { do: 'status', status: 408 }, { kind: 'timeout', outcome: 'unknown', status: 408 }, 0],
    ['409', { do: 'status', status: 409 }, { kind: 'crash', outcome: 'unknown', status: 409 }, 0],
    [
      'a redirect elsewhere',
      { do: 'status', status: 307, headers: { location: 'http://localhost:9/' } },
      { kind: 'permanent', outcome: 'failed', status: 307 },
      0,
    ],
  ])('[P-4] [I-1] tells %s at once, and goes on', async (_, fault, failure, ran) => {
    const { kb, server } = await startRemote(
      { faults: [{ tool: 'find', nth: 1, ...fault }], eventIds: false },
      { maxMessageBytes: 4096 },
    );
    const outcome = await kb.call(find, { maxAttempts: 1 });
    expect(outcome).toMatchObject({ ok: false, failure });
    expect(server.ran('find')).toBe(ran);
    server.setFaults([]);
    expect(await kb.call({ name: 'echo', arguments: { text: 'again' } })).toMatchObject({ ok: true });
    expect(server.requests('initialize')).toBe(1);
  });

  it.each<[string, Fault]>([
    ['a stream that ended', { do: 'lost_stream' }],
    ['a reset', { do: 'disconnect' }],
    ['a cut body', { do: 'cut' }],
  ])('[R-12] is not repeated after %s, unless it is known to be harmless', async (_, fault) => {
    const { kb, server } = await startRemote({ faults: [{ tool: 'find', nth: 1, ...fault }] });
    expect(await kb.call(find)).toMatchObject({ ok: false, failure: lost });
    expect(server.ran('find')).toBe(1);
    server.setFaults([{ tool: 'find', nth: 1, ...fault }]);
    expect(await kb.call(find, { effect: 'readOnly' })).toMatchObject({ ok: true });
    expect(server.ran('find')).toBe(3);
  });

  it.each<[string, Fault]>([
    ['429', { do: 'status', status: 429, headers: { 'retry-after-ms': '5' } }],
    ['503', { do: 'status', status: 503, headers: { 'retry-after-ms': '5' } }],
    ['a lost session', { do: 'lose_session' }],
    ['a lost session that is told as 400', { do: 'lose_session', status: 400 }],
  ])('[R-12] is repeated after %s, whatever it does', async (_, fault) => {
    const { kb, server } = await startRemote({ faults: [{ tool: 'find', nth: 1, ...fault }] });
    expect(await kb.call(find, { effect: 'mutating' })).toMatchObject({ ok: true });
    expect(server.ran('find')).toBe(1);
  });

  it.each([408, 409, 500, 502, 503, 504, 507, 520])(
    '[P-4] [R-12] is not repeated after %i, which says nothing of whether the tool ran, unless it is known to be harmless',
    async (status) => {
      const faults = [{ tool: 'find', nth: 1, do: 'status', status, body: 'overloaded, try again' }] as const;
      const { kb, server } = await startRemote({ faults });
      expect(await kb.call(find)).toMatchObject({ ok: false, failure: { outcome: 'unknown', status, attempts: 1 } });
      expect(server.requests('tools/call')).toBe(1);
      server.setFaults(faults);
      expect(await kb.call(find, { effect: 'readOnly' })).toMatchObject({ ok: true });
    },
  );

  it('[P-4] drops an answer that came twice, or is of another request, and counts it', async () => {
    const { kb, server } = await startRemote({
      faults: [
        { tool: 'find', nth: 1, do: 'duplicate_answer' },
        { tool: 'find', nth: 2, do: 'wrong_id' },
      ],
    });
    expect(await kb.call(find)).toMatchObject({ ok: true });
    await server.until(() => server.openResponses === server.standingStreams);
    expect(kb.lateAnswers).toBe(1);
    expect(await kb.call(find, { maxAttempts: 1 })).toMatchObject({ ok: false, failure: lost });
    expect(kb.lateAnswers).toBe(2);
  });
});

describe('a remote server that asks not to be called for long', () => {
  it.each([
    ['a quota', 1, { 'retry-after': '86400' }, { kind: 'quota', retryAfterMs: 86_400_000 }, 429],
    ['maintenance', 5, { 'retry-after': '86400' }, { kind: 'transient', retryAfterMs: 86_400_000 }, 503],
  ] as const)('[P-4] [M-13] for %s is probed after a minute; the caller is told all of it', async (...row) => {
    const [, calls, headers, failure, status] = row;
    const { kb, server, clock, facts } = await startRemote({ tools: ['find'] });
    server.setFaults([{ tool: 'find', do: 'status', status, headers }]);
    for (let call = 0; call < calls; call++) {
      expect(await kb.call(find, { maxAttempts: 1 })).toMatchObject({ ok: false, failure });
    }
    expect(facts.find(({ type }) => type === 'breaker.opened')).toMatchObject({ openForMs: 60_000 });
    expect(await kb.call(find)).toMatchObject({ ok: false, failure: { kind: 'circuit_open' } });
    server.setFaults([]);
    clock.skip(60_001);
    expect(await kb.call(find)).toMatchObject({ ok: true });
  });

  it('[P-4] [M-13] is waited for where the policy allows so long a pause', async () => {
    const faults = [{ tool: 'find', do: 'status', status: 429, headers: { 'retry-after': '120' } }] as const;
    const { kb } = await startRemote({ tools: ['find'], faults }, { policy: { maxPauseMs: 300_000 } });
    const failure = { kind: 'rate_limit', retryAfterMs: 120_000 };
    expect(await kb.call(find, { maxAttempts: 1 })).toMatchObject({ ok: false, failure });
  });
});

describe('the session of a remote server', () => {
  it('[P-4] is one for many calls that find the old one gone', async () => {
    const { kb, server, facts } = await startRemote({ tools: ['find'] });
    server.forgetSessions();
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => kb.call(find, { effect: 'mutating' })));
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
    expect(server.ran('find')).toBe(5);
    expect(server.requests('initialize')).toBe(2);
    expect(facts.map(({ type }) => type)).not.toContain('integration.crashed');
  });

  it('[P-4] [I-3] ends with the gateway, and nothing of it is left', async () => {
    const { gateway, kb, server } = await startRemote();
    await kb.call({ name: 'echo' });
    await server.until(() => server.standingStreams === 1);
    await gateway.stop();
    expect(server.requests('DELETE')).toBe(1);
    await server.until(() => server.openResponses === 0);
    expect(server.sessions).toBe(0);
  });
});

describe('a remote server that is away', () => {
  it('[P-4] refuses calls before they begin, and is back with a new session', async () => {
    const { kb, server } = await startRemote({ tools: ['find'] });
    await server.stop();
    // The first may be sent on a connection whose end has not been heard of.
    await kb.call(find, { maxAttempts: 1 });
    const failure = { kind: 'transient', outcome: 'not_started', code: 'ECONNREFUSED' };
    expect(await kb.call(find, { maxAttempts: 1 })).toMatchObject({ ok: false, failure });
    await server.start();
    expect(await kb.call(find, { effect: 'mutating' })).toMatchObject({ ok: true });
    expect(server.requests('initialize')).toBe(2);
    expect(server.ran('find')).toBe(1);
  });

  it('[P-4] when the gateway starts is connected to as soon as it is there', async () => {
    const { server, clock } = await startRemote({ tools: ['find'] });
    await server.stop();
    const restarted = createGateway({ clock });
    onTestFinished(() => restarted.stop());
    const other = restarted.mcpServer('other', { url: server.url });
    await restarted.start();
    const waiting = other.call(find);
    await server.start();
    expect(await skipUntil(clock, waiting, 250)).toMatchObject({ ok: true });
  });
});
