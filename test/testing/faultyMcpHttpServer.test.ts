import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FaultyMcpHttpServerOptions } from '../../testing/faultyMcpHttpScript.ts';
import { type FaultyMcpHttpServer, startFaultyMcpHttpServer } from '../../testing/faultyMcpHttpServer.ts';
import type { McpHttpFault } from '../../testing/mcpHttpFaults.ts';
import { deferred } from '../support/deferred.ts';

async function start(options: FaultyMcpHttpServerOptions = {}): Promise<FaultyMcpHttpServer> {
  const server = await startFaultyMcpHttpServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** The official client, connected; without its own attempts to come back. */
async function connect(server: FaultyMcpHttpServer): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  const reconnectionOptions = {
    maxRetries: 0,
    initialReconnectionDelay: 1,
    maxReconnectionDelay: 1,
    reconnectionDelayGrowFactor: 1,
  };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { reconnectionOptions }) as never);
  return client;
}

/** One POST as a client makes it, in a session of its own. */
async function talk(server: FaultyMcpHttpServer) {
  const headers: Record<string, string> = {
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const post = (body: object, signal?: AbortSignal) =>
    fetch(server.url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      signal: signal ?? null,
    });
  const greeting = await post({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } });
  await greeting.text();
  const session = greeting.headers.get('mcp-session-id');
  if (session !== null) headers['mcp-session-id'] = session;
  return {
    headers,
    post,
    search: (signal?: AbortSignal) =>
      post({ id: 1, method: 'tools/call', params: { name: 'search', _meta: { progressToken: 1 } } }, signal),
    get: (more: Record<string, string> = {}) => fetch(server.url, { headers: { ...headers, ...more } }),
  };
}

const bySearch = (fault: McpHttpFault, more: FaultyMcpHttpServerOptions = {}): FaultyMcpHttpServerOptions => ({
  ...more,
  faults: [{ tool: 'search', ...fault }],
});

/** The code of the connection's error. */
const codeOf = async (work: Promise<unknown>): Promise<unknown> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return ((error as Error | undefined)?.cause as { code?: string } | undefined)?.code ?? error;
};

/** The next piece of a body. */
async function piece(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const read = await reader?.read();
  reader?.releaseLock();
  return Buffer.from((read?.value ?? []) as Uint8Array).toString();
}

describe('the faulty MCP server over HTTP without a fault', () => {
  it('[U-5] shakes hands with the official client, lists its tools and echoes', async () => {
    const server = await start({ name: 'kb', version: '2.0.0', ...bySearch({ do: 'html' }) });
    const client = await connect(server);
    expect(client.getServerVersion()).toEqual({ name: 'kb', version: '2.0.0' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'search']);
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(content).toEqual([{ type: 'text', text: 'hello' }]);
    expect([server.ran(), server.ran('echo'), server.ran('search')]).toEqual([1, 1, 0]);
    expect(server.requests('initialize')).toBe(1);
    expect(server.sessions).toBe(1);
  });

  it('[U-5] answers as JSON, and without sessions', async () => {
    const server = await start({ answerAs: 'json', sessionIds: false });
    const client = await connect(server);
    expect(await client.callTool({ name: 'echo', arguments: { text: 'hello' } })).toMatchObject({
      content: [{ text: 'hello' }],
    });
    expect(server.received.at(-1)?.headers['mcp-session-id']).toBeUndefined();
  });

  it('[U-5] speaks the era without sessions, a listen included', async () => {
    const server = await start({ era: 'stateless' });
    const changes: string[] = [];
    const changed = deferred<void>();
    const onChanged = (_: unknown, tools: { name: string }[] | null): void => {
      changes.push(...(tools ?? []).map(({ name }) => name));
      changed.resolve();
    };
    const client = new ModernClient(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' }, listChanged: { tools: { onChanged, debounceMs: 0 } } },
    );
    onTestFinished(() => client.close());
    await client.connect(new ModernTransport(new URL(server.url)));
    expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({
      content: [{ text: 'hi' }],
    });
    expect(server.standingStreams).toBe(1);
    server.setTools(['other']);
    await changed.promise;
    expect(changes).toEqual(['other']);
    server.endStreams();
    await server.until(() => server.standingStreams === 0);
    expect(server.requests('initialize')).toBe(0);
  });

  it('[U-5] refuses a session that it does not know, and a request without one', async () => {
    const server = await start();
    const { post, search, headers } = await talk(server);
    server.forgetSessions();
    expect((await search()).status).toBe(404);
    delete headers['mcp-session-id'];
    expect((await post({ id: 1, method: 'ping' })).status).toBe(400);
    expect((await talk(server)) && server.sessions).toBe(1);
  });

  it('[U-5] sends notifications on a standing GET stream, of which there is one', async () => {
    const server = await start({ eventIds: true });
    const { get } = await talk(server);
    const stream = await get();
    await server.until(() => server.standingStreams === 1);
    expect((await get()).status).toBe(409);
    server.notify('notifications/tools/list_changed');
    expect(await piece(stream)).toMatch(/^id: 2-0\nevent: message\ndata: .*list_changed/);
    server.endStreams('reset');
    expect(await codeOf(piece(stream))).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    server.notify('notifications/message', { data: 'missed' });
    expect(await piece(await get({ 'last-event-id': '2-0' }))).toContain('missed');
  });

  it('[U-5] asks for a token, and names who gives them', async () => {
    const server = await start({ authorize: (token) => token === 't', authorizationServer: 'http://127.0.0.1:9' });
    const refused = await fetch(server.url, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
    expect(await (await fetch(url)).json()).toEqual({
      resource: server.url,
      authorization_servers: ['http://127.0.0.1:9'],
    });
    const { status } = await fetch(server.url, { headers: { authorization: 'Bearer t' } });
    expect(status).toBe(400);
  });
});

describe('the faulty MCP server over HTTP', () => {
  it('[U-5] answers with a status, in which the tool has not run', async () => {
    const server = await start(
      bySearch({ do: 'status', status: 429, headers: { 'retry-after': '7' }, body: 'slow down' }),
    );
    const response = await (await talk(server)).search();
    expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([
      429,
      '7',
      'slow down',
    ]);
    expect(server.ran('search')).toBe(0);
  });

  it.each([404, 400] as const)('[U-5] loses a session, with %i', async (status) => {
    const server = await start(bySearch({ do: 'lose_session', status }));
    const { search } = await talk(server);
    const response = await search();
    expect(response.status).toBe(status);
    expect(await response.text()).toContain('Session not found');
    expect([server.sessions, server.ran()]).toEqual([0, 0]);
    expect((await search()).status).toBe(404);
  });

  it('[U-5] [I-3] sends no headers; who gives up is counted, the tool has run', async () => {
    const server = await start(bySearch({ do: 'no_headers' }));
    const { search } = await talk(server);
    const controller = new AbortController();
    const answer = codeOf(search(controller.signal));
    await server.until(() => server.ran('search') === 1);
    expect(server.openResponses).toBe(1);
    controller.abort('enough');
    expect(await answer).toBe('enough');
    await server.until(() => server.aborted === 1 && server.openResponses === 0);
    expect(server.received.at(-1)).toMatchObject({ on: 'tools/call', tool: 'search', aborted: true });
  });

  it('[U-5] holds answers until they are released', async () => {
    const server = await start(bySearch({ do: 'hold' }));
    const { search } = await talk(server);
    const answers = Promise.all([search(), search()]);
    await server.until(() => server.requests('tools/call') === 2);
    server.release();
    for (const answer of await answers) expect(await answer.text()).toContain('"result"');
  });

  it.each([
    ['nothing', 0, /./],
    ['comments', 3, /^: still here/],
    ['progress', 3, /notifications\/progress/],
  ] as const)('[U-5] opens a stream on which comes %s', async (sends, pieces, expected) => {
    const server = await start(bySearch({ do: 'silent_stream', sends, everyMs: 1 }));
    const response = await (await talk(server)).search();
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    for (let more = 0; more < pieces; more++) expect(await piece(response)).toMatch(expected);
    await response.body?.cancel();
    await server.until(() => server.aborted === 1);
  });

  it('[U-5] loses the stream with the answer', async () => {
    const server = await start(bySearch({ do: 'lost_stream' }));
    const { search } = await talk(server);
    expect(await (await search()).text()).toBe('');
    server.setFaults([{ do: 'lost_stream', how: 'reset' }]);
    const response = await search();
    expect(await codeOf(response.text())).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect([server.ran('search'), server.aborted]).toEqual([2, 0]);
  });

  it('[U-5] gives the answer of a primed stream to who comes back, or does not', async () => {
    const server = await start(bySearch({ do: 'lost_stream', primed: true, retryMs: 5 }));
    const { search, get } = await talk(server);
    const lost = await (await search()).text();
    expect(lost).toMatch(/^retry: 5\n\nid: (\S+)\ndata: \n\n$/);
    const [, id = ''] = /id: (\S+)/.exec(lost) ?? [];
    expect(await (await get({ 'last-event-id': id })).text()).toContain('"result"');
    expect((await get({ 'last-event-id': '9-9' })).status).toBe(404);
    server.setFaults([
      { on: 'resume', nth: 1, do: 'status', status: 405 },
      { on: 'resume', do: 'lost_stream', retryMs: 0 },
    ]);
    expect((await get({ 'last-event-id': id })).status).toBe(405);
    expect(await (await get({ 'last-event-id': id })).text()).toBe('retry: 0\n\n');
    expect(server.requests('resume')).toBe(4);
  });

  it('[U-5] does wrong to a GET stream', async () => {
    const server = await start({
      faults: [
        { on: 'GET', nth: 1, do: 'status', status: 405 },
        { on: 'GET', nth: 2, do: 'lost_stream', retryMs: 0 },
        { on: 'GET', nth: 3, do: 'html' },
        { on: 'GET', nth: 4, do: 'silent_stream' },
      ],
    });
    const { get } = await talk(server);
    expect((await get()).status).toBe(405);
    expect(await (await get()).text()).toBe('retry: 0\n\n');
    expect((await get()).headers.get('content-type')).toBe('text/html');
    const silent = await get();
    server.notify('notifications/tools/list_changed');
    expect(server.standingStreams).toBe(0);
    await silent.body?.cancel();
  });

  it.each(['reset', 'end'] as const)('[U-5] disconnects before any header: %s', async (how) => {
    const server = await start(bySearch({ do: 'disconnect', how }));
    expect(await codeOf((await talk(server)).search())).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect([server.ran('search'), server.aborted]).toEqual([1, 0]);
  });

  it('[U-5] cuts a body', async () => {
    const server = await start(bySearch({ do: 'cut' }));
    const { search } = await talk(server);
    expect(await codeOf((await search()).text())).toBe('UND_ERR_SOCKET');
    server.setFaults([{ do: 'cut', promises: 'fewer' }]);
    await expect((await search()).json()).rejects.toThrow(SyntaxError);
  });

  it('[U-5] trickles', async () => {
    const server = await start(bySearch({ do: 'trickle', everyMs: 1 }));
    const response = await (await talk(server)).search();
    expect(await piece(response)).toMatch(/^{"jsonrpc":"2.0",/);
    for (let more = 0; more < 3; more++) expect(await piece(response)).toMatch(/^ +$/);
    await response.body?.cancel();
    await server.until(() => server.openResponses === 0);
  });

  it.each([
    [{ do: 'accepted' }, 202, null, /^$/],
    [{ do: 'html' }, 200, 'text/html', /Sign in/],
    [{ do: 'malformed' }, 200, 'application/json', /^{"jsonrpc":"2.0",$/],
    [{ do: 'malformed', body: '' }, 200, 'application/json', /^$/],
    [{ do: 'wrong_id' }, 200, 'application/json', /"id":"nobody-asked"/],
    [{ do: 'duplicate_answer' }, 200, 'text/event-stream', /"id":1,[^]*"id":1,/],
    [{ do: 'oversize', bytes: 5 }, 200, 'application/json', /"xxxxx"/],
    [{ do: 'error', code: -1, message: 'no', data: 2 }, 200, 'application/json', /{"code":-1,"message":"no","data":2}/],
    [{ do: 'tool_error', texts: ['a'] }, 200, 'application/json', /"text":"a"}],"isError":true/],
    [{ do: 'slow', ms: 1, progress: 1 }, 200, 'text/event-stream', /"progress":1[^]*"id":1,/],
  ] as const)('[U-5] answers as told: %j', async (fault, status, type, body) => {
    const server = await start(bySearch(fault as McpHttpFault, { answerAs: 'json' }));
    const response = await (await talk(server)).search();
    expect([response.status, response.headers.get('content-type')]).toEqual([status, type]);
    expect(await response.text()).toMatch(body);
    expect(server.ran('search')).toBe(1);
  });

  it('[U-5] asks its client', async () => {
    const server = await start(bySearch({ do: 'ask', method: 'roots/list' }));
    const { search, post } = await talk(server);
    const response = await search();
    expect(await piece(response)).toContain('"id":"asked-1","method":"roots/list"');
    expect((await post({ id: 'asked-1', result: { roots: [] } })).status).toBe(202);
    expect(await piece(response)).toContain('roots');
  });

  it('[U-5] is a black hole until it heals, for old connections and new ones', async () => {
    const server = await start(bySearch({ do: 'black_hole' }));
    const { search, post } = await talk(server);
    const swallowed = codeOf(search());
    await server.until(() => server.ran('search') === 1);
    const later = codeOf(post({ id: 2, method: 'ping' }));
    await server.until(() => server.openSockets > 1);
    expect(server.requests('ping')).toBe(0);
    server.heal();
    expect(await swallowed).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(await later).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect((await post({ id: 3, method: 'ping' })).status).toBe(200);
    expect(server.aborted).toBe(0);
  });

  it('[U-5] goes down and comes back on its port, without its sessions', async () => {
    const server = await start(bySearch({ do: 'hold' }));
    const { search, post } = await talk(server);
    const lost = codeOf(search());
    await server.until(() => server.ran('search') === 1);
    await server.stop();
    expect(await lost).toMatch(/ECONNRESET|UND_ERR_SOCKET/);
    expect(await codeOf(post({ id: 2, method: 'ping' }))).toBe('ECONNREFUSED');
    await server.start();
    expect((await post({ id: 3, method: 'ping' })).status).toBe(404);
    expect(server.openSockets).toBeGreaterThan(0);
    server.cut();
    await server.until(() => server.openSockets === 0);
  });

  it('[U-5] counts for a rule the requests that match the rest of it', async () => {
    const server = await start({
      faults: [
        { tool: 'search', nth: [2, 3], do: 'status', status: 503, runs: true },
        { on: 'any', nth: 5, do: 'status', status: 500 },
      ],
    });
    const { search, get } = await talk(server);
    const statuses: number[] = [];
    for (let more = 0; more < 3; more++) statuses.push((await search()).status);
    expect([...statuses, (await get()).status]).toEqual([200, 503, 503, 500]);
    expect(server.ran('search')).toBe(3);
  });

  it.each([
    [{ faults: [{ do: 'vanish' }] }, 'Expected `faults[0].do`'],
    [{ faults: [{ do: 'status' }] }, 'Expected `faults[0].status`'],
    [{ faults: [{ do: 'lose_session', status: 403 }] }, 'Expected `faults[0].status` to be 404 or 400, got 403'],
    [{ faults: [{ do: 'html', tool: 'a', on: 'GET' }] }, 'Expected `faults[0].on` to be "tools/call"'],
    [{ era: 'old' }, 'Expected `era` to be one of'],
    [{ faults: 5 }, 'Expected `faults` to be an array, got 5'],
  ])('[U-5] is checked at once: %j', async (options, message) => {
    await expect(startFaultyMcpHttpServer(options as never)).rejects.toThrow(message);
  });
});
