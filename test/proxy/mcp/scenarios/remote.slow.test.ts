import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { signIn } from '../../../../cli/mcp/signIn.ts';
import { SignInFile } from '../../../../src/actors/mcp/http/auth/signInFile.ts';
import { remoteServerKeys } from '../../../../src/actors/mcp/http/remoteOptions.ts';
import { readOptions } from '../../../../src/policy/options/readOptions.ts';
import { remoteServer } from '../../../../src/runtime/remoteServer.ts';
import { signInDirectory } from '../../../../src/store/paths.ts';
import type { FaultyMcpHttpServerOptions } from '../../../../testing/faultyMcpHttpScript.ts';
import { startFaultyMcpHttpServer } from '../../../../testing/faultyMcpHttpServer.ts';
import { startLosingFront } from '../../../integrations/mcp/losingFront.ts';
import { startSessions } from '../../../integrations/mcp/officialServers.ts';
import { browse } from '../../../actors/mcp/http/auth/signedIn.ts';
import { startAuthorizationServer } from '../../../support/authorizationServer.ts';
import type { SkippingClock } from '../../../support/skippingClock.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type Scripted, startProxy, textIn } from '../startProxy.ts';

async function startRemote(options: FaultyMcpHttpServerOptions = {}, more: Scripted = {}) {
  const server = await startFaultyMcpHttpServer({ tools: [{ name: 'search' }, 'echo'], ...options });
  onTestFinished(() => server.close());
  const { remote, ...rest } = more;
  const proxy = await startProxy({
    command: undefined,
    args: undefined,
    remote: { url: server.url, ...remote },
    ...rest,
    env: { XDG_STATE_HOME: temporaryDirectory(), UNWEDGE_DB: '', ...rest.env },
  });
  return { server, ...proxy };
}

/** A web server that has a page for everything, and no MCP server. */
async function startPage(status: number): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.method ?? '');
    response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Not here</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.closeAllConnections());
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** What comes of work whose waits are passed over. */
async function afterWaits<T>(clock: SkippingClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => (isOver = true));
  await vi.waitUntil(
    () => {
      if (!isOver) clock.skip(1000);
      return isOver;
    },
    { interval: 20, timeout: 60_000 },
  );
  return done;
}

const readOnly = { name: 'search', annotations: { readOnlyHint: true } };

describe('a proxy of a remote server', () => {
  it('[P-4] passes what client and server say', async () => {
    const { server, open, call, ask, stop } = await startRemote();
    await open();
    expect(textIn(await call('echo', { text: 'hello' }))).toBe('hello');
    expect((await ask('ping')).result).toEqual({});
    server.notify('notifications/message', { level: 'info', data: 'x' });
    await server.until(() => server.standingStreams === 1);
    await stop();
    expect([server.requests('DELETE'), server.sessions]).toEqual([1, 0]);
    await server.until(() => server.openResponses === 0);
  });

  it('[P-4] brings a new session to where the old one was, and repeats what the server had refused', async () => {
    const { server, open, ask, call, lines } = await startRemote();
    await open();
    await ask('logging/setLevel', { level: 'warning' });
    await ask('resources/subscribe', { uri: 'test://one' });
    server.forgetSessions();
    expect(textIn(await call('search', { q: 'a' }))).toBe('a');
    expect(server.ran('search')).toBe(1);
    await server.until(() => server.requests('resources/subscribe') === 2);
    expect([server.requests('initialize'), server.requests('logging/setLevel')]).toEqual([2, 2]);
    expect(lines.filter((line) => line.includes('"error"'))).toEqual([]);
  });

  it.each([
    ['refuses it for that', { status: 409, body: '{"error":"session closed"}' }, true],
    [
      'says so in an error',
      { status: 200, body: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"Not connected"}}' },
      false,
    ],
  ])('[P-4] [R-12] has a new session when the server %s; the client sees no disconnect', async (_, word, isRefused) => {
    const server = await startSessions();
    const front = await startLosingFront(server.url);
    const { open, call, ask } = await startProxy({ command: undefined, args: undefined, remote: { url: front.url } });
    await open();
    await ask('ping');
    expect(textIn(await call('find', { text: 'a' }))).toBe('a');
    front.lose(word);
    const answer = await call('find', { text: 'b' });
    const unknown = { isError: true, _meta: { 'unwedge/failure': { outcome: 'unknown' } } };
    expect(answer.result).toMatchObject(isRefused ? { content: [{ text: 'b' }] } : unknown);
    expect(textIn(await call('find', { text: 'c' }))).toBe('c');
    expect([server.ran(), front.asked('initialize')]).toEqual([isRefused ? 3 : 2, 2]);
    const wrong = await call('find', { text: 1 });
    expect(JSON.stringify(wrong)).toMatch(/expected string|invalid/i);
    expect(front.asked('initialize')).toBe(2);
  });

  it.each([
    ['auto', 404, ['POST', 'GET']],
    ['http', 404, ['POST']],
    ['auto', 405, ['POST', 'GET']],
    ['sse', 404, ['GET']],
    ['auto', 200, ['POST']],
  ] as const)(
    '[P-3] [P-4] says at once that the address may be wrong where no server is there (%s, %i)',
    async (transport, status, methods) => {
      const { url, asked } = await startPage(status);
      const proxy = await startProxy({
        ...{ command: undefined, args: undefined },
        remote: { url: `${url}/mcpp/0123456789abcdef0?key=s3same`, transport },
      });
      proxy.clock.stop();
      const handshake = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const refused = await proxy.ask('initialize', handshake);
      expect(refused.error?.message).toMatch(/\/mcpp\/\.\.\. answered HTTP \d+.*; check that the address is right/);
      expect(refused.error?.data).toMatchObject({ 'unwedge/failure': { outcome: 'not_started', retryable: false } });
      expect(proxy.said).toEqual([expect.stringMatching(/^kb does not come up: http\S+ answered HTTP/)]);
      expect(proxy.said.join()).not.toMatch(/s3same|0123456789abcdef0/);
      expect(asked).toEqual(methods);
      // Somebody may have put it there meanwhile.
      await proxy.ask('initialize', handshake);
      expect(asked).toEqual([...methods, ...methods]);
      expect(proxy.said).toHaveLength(1);
    },
  );

  it('[P-4] outlives a server that is away for a while', async () => {
    const { server, open, call } = await startRemote({ tools: [readOnly] });
    await open();
    await server.stop();
    const waiting = call('search', { q: 'a' });
    await server.start();
    expect(textIn(await waiting)).toBe('a');
    expect(server.ran('search')).toBe(1);
  });

  it('[P-4] [P-1] ends a call on a half-open connection, and the next one works', async () => {
    const { server, open, call, clock } = await startRemote({}, { idleMs: 10_000, whenAlive: 'end' });
    await open();
    clock.stop();
    server.blackHole();
    const requests = server.received.length;
    const lost = call('search', { q: 'a' });
    expect((await afterWaits(clock, lost)).result).toMatchObject({ isError: true });
    expect(server.received).toHaveLength(requests);
    server.heal();
    expect(textIn(await afterWaits(clock, call('search', { q: 'b' })))).toBe('b');
    expect(server.ran('search')).toBe(1);
  });

  it('[P-4] tells a call whose answer was lost, and repeats one that only reads', async () => {
    const { server, open, call } = await startRemote({
      tools: [readOnly, 'write'],
      faults: [{ nth: [1, 2], do: 'lost_stream' }],
    });
    await open();
    const lost = await call('write', { q: 'a' });
    expect(lost.result).toMatchObject({ isError: true });
    expect(textIn(await call('search', { q: 'b' }))).toBe('b');
    expect([server.ran('write'), server.ran('search')]).toEqual([1, 2]);
  });

  it.each([408, 409, 500, 502, 504, 520])(
    '[P-4] [R-12] says that it may have taken effect after %i, and sends it once',
    async (status) => {
      const { server, open, call } = await startRemote({ faults: [{ nth: 1, do: 'status', status }] });
      await open();
      const { result } = await call('search', { q: 'a' });
      expect(result).toMatchObject({ isError: true });
      expect(JSON.stringify(result)).toContain('it may have taken effect, check before repeating');
      expect(server.requests('tools/call')).toBe(1);
    },
  );

  it('[P-4] [M-13] waits as long as a server asks', async () => {
    const { server, open, call } = await startRemote({
      faults: [{ nth: 1, do: 'status', status: 429, headers: { 'retry-after': '0' } }],
    });
    await open();
    expect(textIn(await call('search', { q: 'a' }))).toBe('a');
    expect([server.requests('tools/call'), server.ran('search')]).toEqual([2, 1]);
  });

  it('[P-4] [O-8] shows headers to the server alone', async () => {
    const secret = 'planted-value-of-a-header';
    const { server, open, call, facts, lines, said } = await startRemote(
      { faults: [{ nth: 1, do: 'status', status: 403, body: `no entry with ${secret}` }] },
      { remote: { headers: { 'x-key': secret } } as never },
    );
    await open();
    await call('search', {});
    expect(server.received.every(({ headers }) => headers['x-key'] === secret)).toBe(true);
    expect(JSON.stringify([facts, lines, said])).not.toContain(secret);
  });

  it('[P-4] [O-8] keeps headers and the query of the address out of records under any name, and passes what the server says', async () => {
    const planted = { 'X-Sec': 'HEADERSEKRET11', query: 'zzquerysekret' };
    const message = `unknown ${planted['X-Sec']} ${planted.query}`;
    const { server, open, call, facts, runtime } = await startRemote(
      { faults: [{ do: 'error', code: -32_000, message }] },
      { remote: { headers: { 'X-Sec': planted['X-Sec'] } } as never },
    );
    await open();
    const url = `${server.url}?zz=${planted.query}`;
    remoteServer(runtime, readOptions('', { url }, remoteServerKeys));
    expect((await call('search', {})).error).toMatchObject({ message });
    expect(facts.map(({ type }) => type)).toContain('mcp.tool_failed');
    const kept = runtime.secrets.hide(JSON.stringify(facts));
    for (const secret of Object.values(planted)) expect(kept).not.toContain(secret);
  });

  it('[P-4] says how to sign in, and goes on when somebody has', async () => {
    const giver = await startAuthorizationServer();
    const { server, open, call, ask, clock, facts, lines } = await startRemote({
      authorize: giver.accepts,
      authorizationServer: giver.url,
    });
    const refused = await ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    });
    expect(refused.error?.message).toContain(`unwedge mcp --url ${server.url} --sign-in`);
    const file = new SignInFile(signInDirectory(process.env), server.url, clock);
    expect(await signIn({ file, clock, waitMs: 60_000, show: browse })).toMatchObject({ ok: true });
    await open();
    expect(textIn(await call('search', { q: 'a' }))).toBe('a');
    giver.tokenRequests.length = 0;
    giver.expireAll();
    expect(textIn(await call('search', { q: 'b' }))).toBe('b');
    expect(giver.tokenRequests).toHaveLength(1);
    const { access = '', refresh = '' } = file.read().tokens ?? {};
    for (const secret of [access, refresh]) expect(JSON.stringify([facts, lines])).not.toContain(secret);
  });
});

const version = 'io.modelcontextprotocol/protocolVersion';
const meta = {
  [version]: '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

describe('a call behind a proxy of a remote server of the stateless era', () => {
  it('[P-4] [R-12] that takes longer than the idle limit runs once: the sign of life is asked for in the words of its era', async () => {
    const { server, ask, clock, facts } = await startRemote(
      { era: 'stateless', faults: [{ nth: 1, do: 'hold' }] },
      { idleMs: 10_000 },
    );
    await ask('server/discover', { _meta: meta });
    const before = server.requests('server/discover');
    const slow = ask('tools/call', { name: 'search', arguments: { q: 'a' }, _meta: meta });
    await server.until(() => server.ran('search') === 1);
    clock.skip(10_000);
    await server.until(() => server.requests('server/discover') === before + 1);
    server.release();
    expect(textIn(await slow)).toBe('a');
    expect([server.ran('search'), server.requests('ping')]).toEqual([1, 0]);
    expect(facts.map(({ type }) => type)).not.toContain('process.exited');
  });

  it('[P-4] [R-12] is not sent again when the server turns out to be of another era while it runs', async () => {
    const { server, ask } = await startRemote({ era: 'stateless', faults: [{ nth: 1, do: 'hold' }] });
    await ask('server/discover', { _meta: meta });
    const slow = ask('tools/call', { name: 'search', arguments: { q: 'a' }, _meta: meta });
    await server.until(() => server.ran('search') === 1);
    // What the server refuses as a request of another era ends the link.
    void ask('ping');
    const { result } = await slow;
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).toContain('may have taken effect');
    expect(server.ran('search')).toBe(1);
    server.release();
  });
});

describe('a call behind a proxy of a remote server that forgets its session', () => {
  it('[P-4] [R-12] is not sent again while it runs', async () => {
    const { server, open, call, ask } = await startRemote({ answerAs: 'json', faults: [{ nth: 1, do: 'hold' }] });
    await open();
    const slow = call('search', { q: 'a' });
    await server.until(() => server.ran('search') === 1);
    server.forgetSessions();
    expect((await ask('tools/list')).result).toBeDefined();
    expect((await slow).result).toMatchObject({ isError: true });
    expect(server.ran('search')).toBe(1);
    server.release();
  });
});
