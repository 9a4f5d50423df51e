import { Client, type Transport } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../../actors/mcp/mcpHarness.ts';
import { startHub, type HubServers } from '../startHub.ts';

const modern = (list: object, capabilities: object = { tools: {} }) => ({
  env: { STYLE: 'modern', CAPABILITIES: JSON.stringify(capabilities), LIST: JSON.stringify(list) },
});
const ofSdk = { command: process.execPath, args: [fixture('mcpModern'), 'modern-only'] };

/** The official client before a hub of these servers. */
async function connect(
  servers: HubServers,
  mode: 'legacy' | { pin: string } = { pin: '2026-07-28' },
  broken: string[] = [],
) {
  const hub = await startHub(servers, broken);
  const transport: Transport = {
    start: () => Promise.resolve(),
    send(message) {
      hub.input.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  let rest = '';
  const heard = (chunk: unknown): void => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) transport.onmessage?.(JSON.parse(line) as never);
  };
  hub.output.on('data', heard);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { hub, client };
}

describe('the official client of the stateless era before a hub', () => {
  it('[P-8] sees what each server has, and uses it', async () => {
    const { client } = await connect({ one: ofSdk, other: modern({ ttlMs: 4000, cacheScope: 'public' }) });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['one__echo', 'other__act']));
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['one__greet']);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['modern://plain']);
    expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
    expect((await client.readResource({ uri: 'modern://plain' })).contents).toMatchObject([{ text: 'plain' }]);
    expect(await client.callTool({ name: 'one__echo', arguments: { text: 'hi' } })).toMatchObject({
      content: [{ text: 'hi' }],
    });
    expect(client.getServerVersion()).toEqual({ name: 'unwedge', version: '1.0.0' });
  });

  it.each([
    [
      'the smallest time of two, for everybody',
      { ttlMs: 4000, cacheScope: 'public' },
      { ttlMs: 9000, cacheScope: 'public' },
      4000,
      'public',
    ],
    [
      'private if one is',
      { ttlMs: 4000, cacheScope: 'public' },
      { ttlMs: 9000, cacheScope: 'private' },
      4000,
      'private',
    ],
    ['no time where one says none', { ttlMs: 4000, cacheScope: 'public' }, {}, 0, 'private'],
    [
      'no time where one says nonsense',
      { ttlMs: -1.5, cacheScope: 'all' },
      { ttlMs: 1, cacheScope: 'public' },
      0,
      'private',
    ],
  ])('[P-8] is told %s', async (_, one, other, ttlMs, cacheScope) => {
    const { client } = await connect({ one: modern(one), other: modern(other) });
    expect(await client.listTools()).toMatchObject({ ttlMs, cacheScope });
  });

  it('[P-8] gets a list though no server has it, and one that is not there yet is good for now', async () => {
    const { client, hub } = await connect({ one: modern({ ttlMs: 4000, cacheScope: 'public' }) });
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    expect((await hub.ask('prompts/list', { _meta: meta }, 'p')).result).toMatchObject({
      ...{ resultType: 'complete', prompts: [], ttlMs: 0, cacheScope: 'private' },
    });
    expect(Object.keys(client.getServerCapabilities() ?? {})).toEqual(['tools']);
  });
});

describe.each(['legacy', { pin: '2026-07-28' }] as const)('what a hub announces (%j)', (mode) => {
  const has = (capabilities: object) => ({
    env: { STYLE: mode === 'legacy' ? 'legacy' : 'modern', CAPABILITIES: JSON.stringify(capabilities) },
  });

  it.each([
    [[{ tools: {} }, { tools: {} }], { tools: { listChanged: true } }],
    [[{ tools: {} }, { prompts: {} }], { tools: { listChanged: true }, prompts: { listChanged: true } }],
    [[{ resources: {} }, { tools: {} }], { tools: { listChanged: true }, resources: { listChanged: true } }],
    [
      [{ resources: { subscribe: true } }, { completions: {} }],
      { resources: { listChanged: true, subscribe: true }, completions: {} },
    ],
    [[{}, {}], {}],
  ])('[P-8] is what some server has: %j', async ([one = {}, other = {}], announced) => {
    const { client } = await connect({ one: has(one), other: has(other) }, mode);
    expect(client.getServerCapabilities()).toEqual(announced);
  });
});

describe('a hub one of whose servers does not come up', () => {
  it('[P-8] announces what the others have, and says what the late one has besides', async () => {
    const { client, hub } = await connect(
      { one: { env: { CAPABILITIES: '{"tools":{}}' } }, late: { env: { CAPABILITIES: '{"tools":{},"prompts":{}}' } } },
      'legacy',
      ['late'],
    );
    expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true } });
    hub.mend('late');
    await hub.until(() => {
      hub.clock.skip(1000);
      return hub.said.find((line) => line.includes('late came up late, with prompts'));
    });
  });
});
