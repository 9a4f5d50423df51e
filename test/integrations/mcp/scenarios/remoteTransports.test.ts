import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { skipUntil, startRemote } from '../startRemote.ts';

const find = { name: 'find', arguments: { text: 'x' } };

/** A server of the transport of 2024 that says to send messages to `endpoint`, and takes down what it is sent. */
async function startOlder(endpoint: (port: number) => readonly string[]) {
  const received: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    received.push(request);
    if (request.method !== 'GET') {
      response.writeHead(202).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const each of endpoint((server.address() as AddressInfo).port)) {
      response.write(`event: endpoint\ndata: ${each}\n\n`);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, received };
}

describe('a remote server of the transport of 2024', () => {
  it.each([
    ['another port', (port: number) => `http://127.0.0.1:${port}/messages`],
    ['another port, in short', (port: number) => `//127.0.0.1:${port}/messages`],
    ['another name', (_: number, own: number) => `http://localhost:${own}/messages`],
    ['another scheme', (_: number, own: number) => `https://127.0.0.1:${own}/messages`],
    ['nowhere', () => 'http://'],
  ])('[P-4] [O-8] that has messages sent to %s is refused: nothing is sent there', async (_, address) => {
    const other = await startOlder(() => []);
    const { port } = new URL(other.url);
    const older = await startOlder((own) => [address(Number(port), own)]);
    const { gateway, clock, facts } = await startRemote({}, {}, false);
    const kb = gateway.mcpServer('older', {
      url: older.url,
      transport: 'sse',
      headers: { 'x-key': 'planted-4f1d9c7e' },
    });
    const called = kb.call(find, { maxAttempts: 1 });
    await expect.poll(() => JSON.stringify(facts)).toContain('an address of another origin');
    expect(await skipUntil(clock, called, 250)).toMatchObject({ ok: false, failure: { outcome: 'not_started' } });
    expect(other.received).toEqual([]);
    expect(older.received.map(({ method }) => method)).not.toContain('POST');
  });

  it('[P-4] [O-8] cannot have messages sent elsewhere once it has said where they go', async () => {
    const other = await startOlder(() => []);
    const older = await startOlder(() => ['/messages', other.url]);
    const { gateway } = await startRemote({}, {}, false);
    void gateway.mcpServer('older', { url: older.url, transport: 'sse' }).call(find);
    await expect.poll(() => older.received.map(({ method, url }) => `${method} ${url}`)).toContain('POST /messages');
    expect(other.received).toEqual([]);
  });
});

describe('a remote server that is of another era when it is connected to anew', () => {
  it('[P-4] is spoken to with sessions where it was stateless, and the call that found out is sent again', async () => {
    const { kb, server } = await startRemote({ era: 'both', tools: ['find'] });
    expect(await kb.call(find)).toMatchObject({ ok: true });
    expect(server.requests('initialize')).toBe(0);
    // It was taken back to a release that knows sessions alone.
    server.setFaults([
      { on: 'server/discover', do: 'status', status: 404 },
      { tool: 'find', nth: 1, do: 'status', status: 400, body: 'Bad Request: Mcp-Session-Id header is required' },
    ]);
    expect(await kb.call(find, { effect: 'mutating' })).toMatchObject({ ok: true });
    expect(server.requests('initialize')).toBe(1);
    expect(server.ran('find')).toBe(2);
    expect(server.received.at(-1)?.headers['mcp-session-id']).toBeDefined();
  });

  it('[P-4] is spoken to without sessions where it had them', async () => {
    const unsupported = '{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"Unsupported protocol version"}}';
    const { kb, server, clock } = await startRemote({
      era: 'both',
      tools: ['find'],
      faults: [{ on: 'server/discover', do: 'status', status: 404 }],
    });
    expect(await kb.call(find)).toMatchObject({ ok: true });
    expect(server.requests('initialize')).toBe(1);
    const discovered = server.requests('server/discover');
    server.forgetSessions();
    server.setFaults([
      { on: 'initialize', do: 'status', status: 400, body: unsupported },
      { on: 'GET', do: 'status', status: 405 },
    ]);
    expect(await skipUntil(clock, kb.call(find, { effect: 'mutating' }), 250)).toMatchObject({ ok: true });
    expect(server.requests('server/discover')).toBeGreaterThan(discovered);
    expect(server.ran('find')).toBe(2);
    expect(server.received.at(-1)?.headers['mcp-session-id']).toBeUndefined();
  });

  it('[P-4] [O-1] keeps the id of its session out of what a server that says it back has answered', async () => {
    const { kb, server } = await startRemote({ tools: ['find'] });
    expect(await kb.call(find)).toMatchObject({ ok: true });
    const session = String(server.received.at(-1)?.headers['mcp-session-id']);
    expect(session.length).toBeGreaterThan(8);
    server.setFaults([{ tool: 'find', do: 'status', status: 403, body: `no entry: mcp-session-id ${session}` }]);
    const outcome = await kb.call(find);
    const { message } = outcome.ok ? { message: '' } : outcome.failure;
    expect(message).toContain('no entry: mcp-session-id');
    expect(message).not.toContain(session);
  });
});
