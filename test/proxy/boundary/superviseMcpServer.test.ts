import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type ClientCapabilities, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer as ModernServer } from '@modelcontextprotocol/server';
import { readdirSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type McpSupervisionOptions, superviseMcpServer } from '../../../proxy/boundary/superviseMcpServer.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { openStore } from '../../../src/store/openStore.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { RecordedFacts } from '../../support/facts.ts';
import { join } from 'node:path';

type Server = McpServer | ModernServer;

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const boom = (): never => {
  throw new Error('boom');
};
const inputSchema = z.object({ q: z.string() });

/** Registers a tool on either server; their types differ only in their schemas. */
function register(server: Server, name: string, handler: (...args: never[]) => unknown, schema?: object) {
  const call = Reflect.get(server, 'registerTool') as (...args: unknown[]) => { update(updates: object): void };
  return call.call(server, name, schema === undefined ? {} : { inputSchema: schema }, handler);
}

async function connect(server: Server, capabilities: ClientCapabilities = {}): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  onTestFinished(() => client.close());
  await Promise.all([server.connect(far as Parameters<Server['connect']>[0]), client.connect(near)]);
  return client;
}

function supervise(server: Server, options: McpSupervisionOptions = {}) {
  const supervision = superviseMcpServer(server, { ownsProcess: false, ...options });
  onTestFinished(() => supervision.stop());
  return supervision;
}

const versions = [
  ['@modelcontextprotocol/sdk', () => new McpServer({ name: 'kb', version: '1' })],
  ['@modelcontextprotocol/server', () => new ModernServer({ name: 'kb', version: '1' })],
] as const;

describe.each(versions)('a supervised McpServer of %s', (_, makeServer) => {
  it('[P-2] wraps the tools it has and those it gets, with input and without', async () => {
    const server = makeServer();
    register(server, 'before', boom);
    register(server, 'beforeWithInput', boom, inputSchema);
    const { stats } = supervise(server);
    register(server, 'after', boom);
    register(server, 'afterWithInput', boom, inputSchema);
    const client = await connect(server);
    for (const name of ['before', 'beforeWithInput', 'after', 'afterWithInput']) {
      const answer = await client.callTool({ name, arguments: { q: 'x' } });
      expect(answer).toMatchObject({ isError: true, content: [{ text: `Error in ${name}: boom` }] });
    }
    expect(stats).toMatchObject({ inFlight: 0 });
  });

  it('[P-2] leaves what works as it is', async () => {
    const server = makeServer();
    supervise(server);
    register(server, 'search', ({ q }: { q: string }) => text(`found ${q}`), inputSchema);
    const client = await connect(server);
    expect(await client.callTool({ name: 'search', arguments: { q: 'x' } })).toMatchObject(text('found x'));
    expect((await client.listTools()).tools).toMatchObject([
      { name: 'search', inputSchema: { properties: { q: { type: 'string' } } } },
    ]);
  });

  it('[P-2] wraps a handler that takes the place of another, and knows a new name', async () => {
    const server = makeServer();
    const old = register(server, 'old', () => text('ok'));
    supervise(server);
    const fresh = register(server, 'fresh', () => text('ok'));
    old.update({ name: 'renamed', callback: boom });
    fresh.update({ callback: boom });
    const client = await connect(server);
    expect(await client.callTool({ name: 'renamed' })).toMatchObject({ content: [{ text: 'Error in renamed: boom' }] });
    expect(await client.callTool({ name: 'fresh' })).toMatchObject({ content: [{ text: 'Error in fresh: boom' }] });
  });

  it('[P-2] gives a hanging tool up at its own limit, with its signal', async () => {
    const clock = new SimulatedClock();
    const server = makeServer();
    const supervision = supervise(server, { clock, idleMs: 20_000, tools: { slow: { idleMs: 40_000 } } });
    let aborted = 0;
    const hang = (extra: { signal?: AbortSignal; mcpReq?: { signal: AbortSignal } }) => {
      (extra.signal ?? extra.mcpReq?.signal)?.addEventListener('abort', () => {
        aborted += 1;
      });
      return new Promise(() => undefined);
    };
    register(server, 'quick', hang);
    register(server, 'slow', hang);
    const client = await connect(server);
    const [quick, slow] = [client.callTool({ name: 'quick' }), client.callTool({ name: 'slow' })];
    await clock.advance(20_000);
    expect(await quick).toMatchObject({ isError: true });
    expect(supervision.stats).toMatchObject({ inFlight: 1, failed: 1 });
    await clock.advance(19_999);
    expect(aborted).toBe(1);
    await clock.advance(1);
    expect(await slow).toMatchObject({ isError: true });
    expect(aborted).toBe(2);
  });

  it('[P-2] takes what a handler tells and asks by the server for a sign of life', async () => {
    const clock = new SimulatedClock();
    const server = makeServer();
    supervise(server, { clock });
    let reply: (answer: object) => void = () => undefined;
    register(server, 'asks', async () => {
      await server.server.elicitInput({ message: 'Sure?', requestedSchema: { type: 'object', properties: {} } });
      return text('sure');
    });
    register(server, 'tells', async () => {
      await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 40_000));
      await server.server.sendToolListChanged();
      await new Promise((resolve) => clock.setTimeout(() => resolve(undefined), 40_000));
      return text('told');
    });
    const client = await connect(server, { elicitation: {} });
    client.setRequestHandler(ElicitRequestSchema, () => new Promise((resolve) => (reply = resolve as typeof reply)));
    const [asks, tells] = [client.callTool({ name: 'asks' }), client.callTool({ name: 'tells' })];
    await clock.advance(80_000);
    expect(await tells).toMatchObject(text('told'));
    reply({ action: 'accept', content: {} });
    expect(await asks).toMatchObject(text('sure'));
  });

  it('[P-2] tells of failures, and counts them and what came too late', async () => {
    const clock = new SimulatedClock();
    const server = makeServer();
    const supervision = supervise(server, { clock, name: 'kb' });
    const facts: object[] = [];
    supervision.on('*', (fact) => facts.push(fact));
    let finish: (result: object) => void = () => undefined;
    register(server, 'late', () => new Promise<object>((resolve) => (finish = resolve)));
    const client = await connect(server);
    const answer = client.callTool({ name: 'late' });
    await clock.advance(50_000);
    await answer;
    finish(text('at last'));
    await clock.settle();
    expect(facts).toMatchObject([
      { type: 'mcp.tool_failed', integration: 'kb', tool: 'late' },
      { type: 'call.late', integration: 'kb', label: 'late', ok: true },
    ]);
    expect(supervision.stats).toEqual({ inFlight: 0, failed: 1, late: 1, uncaught: 0 });
  });

  it('[P-2] is supervised once', () => {
    const server = makeServer();
    supervise(server);
    expect(() => superviseMcpServer(server)).toThrow('Expected `server` to be supervised once');
  });
});

describe('a supervised MCP server', () => {
  it('[P-2] also wraps what is registered the old way', async () => {
    const server = new McpServer({ name: 'kb', version: '1' });
    supervise(server);
    // oxlint-disable-next-line typescript/no-deprecated
    server.tool('old', 'An old tool', { q: z.string() }, boom);
    const client = await connect(server);
    const answer = await client.callTool({ name: 'old', arguments: { q: 'x' } });
    expect(answer).toMatchObject({ content: [{ text: 'Error in old: boom' }] });
  });

  it('[P-2] [O-1] [O-8] keeps failures in its store, without the secrets in their input', async () => {
    const path = join(temporaryDirectory(), 'kb.sqlite');
    const server = new McpServer({ name: 'kb', version: '1' });
    const supervision = superviseMcpServer(server, { ownsProcess: false, store: path });
    register(server, 'login', boom, z.object({ password: z.string() }));
    const told: unknown[] = [];
    supervision.on('mcp.tool_failed', ({ input }) => told.push(input));
    const client = await connect(server);
    await client.callTool({ name: 'login', arguments: { password: 'hunter22' } });
    expect(told).toEqual([{ password: '[redacted]' }]);
    await supervision.stop();
    const store = await openStore({ path, clock: systemClock, facts: new RecordedFacts() });
    onTestFinished(() => store.close());
    const [event] = await store.read({ category: 'mcp', limit: 1 });
    expect(event).toMatchObject({ category: 'mcp', type: 'tool_error' });
    expect(event?.metadata).toMatchObject({ tool_name: 'login', error: 'boom', input: { password: '[redacted]' } });
    expect(JSON.stringify(event)).toContain('superviseMcpServer.test');
  });

  it('[I-3] listens to the process while it owns it, and no longer', async () => {
    const counts = (): number[] => [
      process.listenerCount('uncaughtException'),
      process.listenerCount('uncaughtExceptionMonitor'),
      process.stdin.listenerCount('end'),
      process.stdout.listenerCount('error'),
    ];
    const before = counts();
    supervise(new McpServer({ name: 'inside', version: '1' }));
    expect(counts()).toEqual(before);
    const owner = superviseMcpServer(new McpServer({ name: 'kb', version: '1' }));
    expect(counts()).toEqual(before.map((count) => count + 1));
    await owner.stop();
    expect(counts()).toEqual(before);
  });

  it.each([
    [{}, 'Expected `server` to be an McpServer'],
    [undefined, 'Expected `server` to be an McpServer'],
  ])('is none when it is %j', (server, message) => {
    expect(() => superviseMcpServer(server as never)).toThrow(message);
  });

  it('[I-3] has no store opened for what is none', async () => {
    const directory = temporaryDirectory();
    const store = join(directory, 'kb.sqlite');
    expect(() => superviseMcpServer({} as never, { store })).toThrow('Expected `server`');
    // Opened after it, and done: what had begun before is done too.
    const other = supervise(new McpServer({ name: 'kb', version: '1' }), { store: join(directory, 'other.sqlite') });
    await other.stop();
    expect(readdirSync(directory)).not.toContain('kb.sqlite');
  });

  it.each([
    [{ mostUncaught: -1 }, 'Expected `mostUncaught` to be an integer of at least 0, got -1'],
    [{ closeMs: 0 }, 'Expected `closeMs`'],
    [{ tools: { search: { idle: 5 } } }, 'Unknown option `tools.search.idle`'],
    [{ tools: { search: { idleMs: 0 } } }, 'Expected `tools.search.idleMs`'],
    [{ onClose: 5 }, 'Expected `onClose` to be a function, got 5'],
    [{ timeoutMs: 5 }, 'Unknown option `timeoutMs`; did you mean overallMs?'],
  ])('has its options checked: %j', (options, message) => {
    const server = new McpServer({ name: 'kb', version: '1' });
    expect(() => superviseMcpServer(server, options as never)).toThrow(message);
  });
});
