import { PassThrough, type Readable, type Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { McpHub } from '../../../proxy/hub/mcpHub.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

interface Message {
  readonly id?: string | number;
  readonly method?: string;
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const modern = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
const discovered = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };

/** A hub of servers that say what the test says. */
function start(...names: readonly string[]) {
  const servers = new Map<string, { readonly got: Message[]; readonly output: Writable }>();
  const open = (name: string) => {
    return ({ input, output }: { readonly input: Readable; readonly output: Writable }): Promise<void> => {
      const got: Message[] = [];
      servers.set(name, { got, output });
      input.on('data', (chunk) => {
        for (const line of String(chunk).trimEnd().split('\n')) got.push(JSON.parse(line) as Message);
      });
      return new Promise(() => undefined);
    };
  };
  const input = new PassThrough();
  const output = new PassThrough();
  void new McpHub({
    ...{ clock: new SimulatedClock(), input, output, version: '1' },
    servers: names.map((name) => ({ name, open: open(name) })),
    say: () => undefined,
    leftOut: () => undefined,
  });
  const methods = (name: string) => servers.get(name)?.got.map(({ method }) => method) ?? [];
  return {
    input,
    output,
    methods,
    /** What a server has written and nobody has taken, in bytes. */
    untaken: (name: string) => servers.get(name)?.output.writableLength,
    raw: (message: object) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    /** A server answers the last request of a method, or says something else. */
    says: async (name: string, message: object, method?: string): Promise<void> => {
      const server = servers.get(name);
      const id = server?.got.findLast((each) => each.method === method)?.id;
      server?.output.write(`${JSON.stringify({ jsonrpc: '2.0', ...(method !== undefined && { id }), ...message })}\n`);
      await turns();
    },
    told: (): readonly Message[] =>
      String(output.read() ?? '')
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Message),
  };
}

async function listening() {
  const hub = start('one', 'late');
  hub.raw({ id: 1, method: 'tools/list', params: modern });
  await turns();
  await hub.says('one', { result: discovered }, 'server/discover');
  await hub.says('late', { error: { code: -32_603, message: 'not now' } }, 'server/discover');
  await hub.says('one', { result: { tools: [] } }, 'tools/list');
  const notifications = { toolsListChanged: true };
  hub.raw({ id: 'l', method: 'subscriptions/listen', params: { ...modern, notifications } });
  await turns();
  return hub;
}

describe('a hub', () => {
  it('[P-8] has a server that comes up later listened to as well, and one that the client leaves off told so', async () => {
    const hub = await listening();
    expect(hub.methods('one')).toContain('subscriptions/listen');
    expect(hub.methods('late')).not.toContain('subscriptions/listen');
    hub.raw({ id: 2, method: 'server/discover', params: modern });
    await turns();
    await hub.says('late', { result: discovered }, 'server/discover');
    expect(hub.methods('late')).toContain('subscriptions/listen');
    hub.raw({ method: 'notifications/cancelled', params: { requestId: 'l' } });
    await turns();
    for (const name of ['one', 'late']) expect(hub.methods(name).at(-1)).toBe('notifications/cancelled');
  });

  it('[P-8] passes on the first answer of the server that was asked, and no other', async () => {
    const hub = start('one', 'other');
    hub.raw({ id: 'c', method: 'tools/call', params: { ...modern, name: 'one__t' } });
    await turns();
    await hub.says('other', { id: 'c', result: { from: 'other' } });
    expect(hub.told()).toEqual([]);
    await hub.says('one', { id: 'c', result: { from: 'one' } });
    await hub.says('one', { id: 'c', result: { from: 'one again' } });
    expect(hub.told()).toEqual([{ jsonrpc: '2.0', id: 'c', result: { from: 'one' } }]);
  });

  it('[P-8] reads no more of its servers than its client reads', async () => {
    const hub = start('one');
    const params = { level: 'info', data: 'x'.repeat(100_000) };
    for (let said = 0; said < 50; said++) await hub.says('one', { method: 'notifications/message', params });
    expect(hub.untaken('one')).toBeGreaterThan(0);
    hub.output.resume();
    await expect.poll(() => hub.untaken('one')).toBe(0);
  });
});

it('[P-8] [I-1] [Q-6] answers the requests of a batch, and goes on after batches within batches, however deep', async () => {
  const hub = start('a');
  const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
  hub.input.write(`[${ping(1)},[${ping(2)}],${ping(3)}]\n`);
  hub.input.write(`${'['.repeat(50_000)}${ping(4)}${']'.repeat(50_000)}\n${ping(5)}\n`);
  await turns();
  expect(hub.told().map(({ id }) => id)).toEqual([1, null, 3, null, 5]);
});
