import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { InMemoryTransport as InMemoryTransportV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createGateway, type Fact, type McpServerTransport } from '../../src/index.ts';
import { type FakeMcpTool, fakeMcpServer, SimulatedClock } from '../../testing/index.ts';

const text = (said: string): object => ({ ok: true, value: { content: [{ type: 'text', text: said }] } });

async function startServer(server: { readonly connect: () => McpServerTransport | Promise<McpServerTransport> }) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, logger: false, control: false });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const kb = gateway.mcpServer('kb', { ...server, policy: { maxAttempts: 1, restartWaitMs: '20s' } });
  onTestFinished(() => gateway.stop());
  await gateway.start();
  return { clock, gateway, facts, kb };
}

const startFake = (tools: Readonly<Record<string, FakeMcpTool>>) => startServer(fakeMcpServer({ tools }));

describe('a fake MCP server', () => {
  it('[U-11] answers beside a simulated clock that is moved on at once, in no real time', async () => {
    const { clock, kb, facts } = await startFake({
      search: ({ query }: { query: string }) => `found ${query}`,
      shape: () => ({ content: [], structuredContent: { a: 1 } }),
      list: () => [1, 2],
      nothing: () => undefined,
      fails: () => Promise.reject(new Error('no such shelf')),
    });
    const call = (name: string, given = {}) => kb.call({ name, arguments: given });
    const calls = Promise.all([
      call('search', { query: 'tea' }),
      call('shape'),
      call('list'),
      call('nothing'),
      call('fails'),
    ]);
    await clock.advance(3_600_000);
    const [found, shaped, listed, nothing, failed] = await calls;
    expect(found).toMatchObject(text('found tea'));
    expect(shaped).toMatchObject({ ok: true, value: { content: [], structuredContent: { a: 1 } } });
    expect(listed).toMatchObject(text('[1,2]'));
    expect(nothing).toMatchObject({ ok: true, value: { content: [] } });
    expect(failed).toMatchObject({ ok: false, failure: { reason: 'tool_error', message: 'no such shelf' } });
    expect(facts.filter(({ type }) => type === 'integration.crashed')).toEqual([]);
  });

  it('[U-11] has a call that hangs ended by its limit on silence, and told so', async () => {
    let heard: AbortSignal | undefined;
    const { clock, kb } = await startFake({
      hangs: (_given, { signal }) => {
        heard = signal;
        return new Promise(() => undefined);
      },
    });
    const call = kb.call({ name: 'hangs' });
    await clock.advance(120_000);
    expect(await call).toMatchObject({ ok: false, failure: { kind: 'timeout', reason: 'idle_timeout' } });
    expect(heard?.aborted).toBe(true);
  });

  it('[U-11] is alive as long as it tells of progress', async () => {
    const clockOf: { clock?: SimulatedClock } = {};
    const { clock, kb } = await startFake({
      slow: (_given, { progress }) =>
        new Promise((resolve) => {
          for (const step of [1, 2, 3]) clockOf.clock?.setTimeout(() => progress(step, 3), step * 20_000);
          clockOf.clock?.setTimeout(() => resolve('done'), 70_000);
        }),
    });
    clockOf.clock = clock;
    const call = kb.call({ name: 'slow' });
    await clock.advance(80_000);
    expect(await call).toMatchObject(text('done'));
  });

  it('[U-11] may crash, and is connected to anew', async () => {
    let calls = 0;
    const { clock, kb, facts } = await startFake({
      pay(_given, { crash }) {
        calls++;
        if (calls === 1) crash();
        return 'paid';
      },
    });
    const first = kb.call({ name: 'pay' });
    await clock.advance(1000);
    expect(await first).toMatchObject({
      ok: false,
      failure: { kind: 'crash', reason: 'connection_lost', outcome: 'unknown' },
    });
    expect(facts.filter(({ type }) => type === 'integration.crashed')).toHaveLength(1);
    const second = kb.call({ name: 'pay' });
    await clock.advance(10_000);
    expect(await second).toMatchObject(text('paid'));
    expect(calls).toBe(2);
  });

  it('refuses tools that are none', () => {
    expect(() => fakeMcpServer({ tools: { search: 'found' } as never })).toThrow(
      'Expected `tools.search` to be a function',
    );
    expect(() => fakeMcpServer({} as never)).toThrow('tools');
  });
});

describe('a server of an official SDK in this process', () => {
  it.each([
    [
      'of today',
      async () => {
        const [ours, theirs] = InMemoryTransport.createLinkedPair();
        const server = new McpServer({ name: 'kb', version: '1.0.0' });
        server.registerTool('search', { inputSchema: z.object({ query: z.string() }) }, ({ query }) => ({
          content: [{ type: 'text', text: `found ${query}` }],
        }));
        await server.connect(theirs);
        return ours;
      },
    ],
    [
      'of before',
      async () => {
        const [ours, theirs] = InMemoryTransportV1.createLinkedPair();
        const server = new McpServerV1({ name: 'kb', version: '1.0.0' });
        server.registerTool('search', { inputSchema: { query: z.string() } }, ({ query }) => ({
          content: [{ type: 'text', text: `found ${query}` }],
        }));
        await server.connect(theirs);
        return ours;
      },
    ],
  ])('[U-11] is called by its transport, beside a simulated clock: %s', async (_, connect) => {
    const { clock, kb, gateway } = await startServer({ connect });
    const call = kb.call({ name: 'search', arguments: { query: 'tea' } });
    await clock.advance(60_000);
    expect(await call).toMatchObject(text('found tea'));
    await gateway.stop();
  });

  it('[U-11] that cannot be reached is tried again, and said', async () => {
    let asked = 0;
    const { clock, kb } = await startServer({
      connect: () => {
        asked++;
        throw new Error('no such server');
      },
    });
    const call = kb.call({ name: 'search' });
    await clock.advance(60_000);
    expect(await call).toMatchObject({ ok: false, failure: { outcome: 'not_started' } });
    expect(asked).toBeGreaterThan(2);
  });
});
