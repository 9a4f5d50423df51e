import { Client, type Transport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { fixture } from '../../../actors/mcp/mcpHarness.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type HubServers, startHub } from '../startHub.ts';

const ui = 'io.modelcontextprotocol/ui';
const ofApp = 'text/html;profile=mcp-app';
const ofEra = (version: string) => ({
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
});
const apps = (name: string) => ({ command: process.execPath, args: [fixture('mcpApps'), name] });

/** The official client, which shows applications, before a hub of these servers. */
async function connect(servers: HubServers, mode: 'legacy' | { pin: string }) {
  const hub = await startHub(servers);
  const transport: Transport = {
    start: () => Promise.resolve(),
    send(message) {
      hub.input.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  let rest = '';
  hub.output.on('data', (chunk) => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) transport.onmessage?.(JSON.parse(line) as never);
  });
  const capabilities = { extensions: { [ui]: { mimeTypes: [ofApp] } } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return { hub, client };
}

const textOf = (result: { content?: unknown }): unknown =>
  JSON.parse((result.content as { text: string }[])[0]?.text ?? 'null');

describe.each([
  ['a handshake', 'legacy'],
  ['no handshake', { pin: '2026-07-28' }],
] as const)('applications of two servers behind one proxy, whose client has %s', (_, mode) => {
  const start = () => connect({ one: apps('one'), other: apps('other') }, mode);

  it('[P-3] [P-8] have their tools listed with what they say of their views, and each view is that of its server', async () => {
    const { client } = await start();
    const { tools } = await client.listTools();
    for (const name of ['one', 'other']) {
      const tool = tools.find((each) => each.name === `${name}__show`);
      const uri = `ui://${name}/view.html`;
      expect(tool?._meta).toMatchObject({ ui: { resourceUri: uri } });
      const { contents } = await client.readResource({ uri });
      const csp = { connectDomains: ['https://example.com'] };
      expect(contents).toMatchObject([
        { uri, mimeType: ofApp, text: `<p>${name}</p>`, _meta: { ui: { prefersBorder: true, csp } } },
      ]);
    }
  });

  it('[P-3] [P-8] hear what their client can show, and the `_meta` of their answers passes', async () => {
    const { client } = await start();
    const result = await client.callTool({ name: 'other__show', arguments: {} });
    expect(textOf(result)).toEqual({ by: 'other', ui: { mimeTypes: [ofApp] } });
    expect(result._meta).toMatchObject({ 'io.example/mark': 'other' });
  });

  it('[P-8] may call the tools of their server by the names that that gives, where one server alone has them', async () => {
    const { client } = await start();
    await client.listTools();
    expect(textOf(await client.callTool({ name: 'refresh-other', arguments: {} }))).toBe('other is fresh');
    await expect(client.callTool({ name: 'show', arguments: {} })).rejects.toThrow(
      'names begin with that of their server',
    );
  });

  it('[P-8] have the extensions of both announced, and what is tried out', async () => {
    const { client } = await start();
    expect(client.getServerCapabilities()).toMatchObject({
      extensions: {
        [ui]: {},
        'io.example/skills': { of: 'one' },
        'io.example/one': { on: true },
        'io.example/other': { on: true },
      },
      experimental: { one: { level: 3 }, other: { level: 3 } },
    });
  });

  it('[P-3] [P-8] answer requests that no other knows', async () => {
    const { hub } = await start();
    const meta = mode === 'legacy' ? {} : { _meta: ofEra(mode.pin) };
    const known = await hub.ask('skills/other', { word: 'hi', ...meta }, 'k');
    expect(known).toMatchObject({ id: 'k', result: { asked: 'hi', by: 'other' } });
    expect((await hub.ask('skills/third', meta)).error).toMatchObject({ code: -32_601 });
  });
});

describe('a resource that no server lists', () => {
  it.each(['ui://board/app.html', 'skill://review/SKILL.md'])(
    '[P-8] is that of the server whose tool or result has named it: %s',
    async (uri) => {
      const tool = { name: 'show', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: uri } } };
      const LIST = JSON.stringify({ tools: [tool] }).replaceAll('/', '\\/');
      const hub = await startHub({ one: {}, other: { env: { LIST } }, third: {} });
      await hub.open();
      const readers = async (): Promise<string[]> => {
        await hub.ask('resources/read', { uri });
        const names = ['one', 'other', 'third'];
        const heard = await Promise.all(names.map((name) => hub.call(`${name}__act`, { do: 'received' })));
        return names.filter(
          (_, index) => heard[index]?.includes(`${uri}`) === true && heard[index]?.includes('resources/read'),
        );
      };
      expect(await readers()).toEqual([]);
      await hub.toolNames();
      expect(await readers()).toEqual(['other']);
      const link = { type: 'resource_link', uri: `${uri}?2`, name: 'more' };
      const raw = JSON.stringify({ jsonrpc: '2.0', id: '$id', result: { content: [link] } }).replace('"$id"', '$id');
      await hub.call('third__act', { do: 'answer', raw });
      await hub.ask('resources/read', { uri: link.uri });
      expect(await hub.call('third__act', { do: 'received' })).toContain('resources/read');
    },
  );
});

describe('large results of several servers behind one proxy', () => {
  beforeEach(() => {
    vi.stubEnv('XDG_STATE_HOME', temporaryDirectory());
    vi.stubEnv('UNWEDGE_DB', '');
  });
  afterEach(() => vi.unstubAllEnvs());

  it('[P-12] [P-8] are read by one tool, whichever server gave them', async () => {
    const hub = await startHub({ one: { maxResult: 2000 }, other: { maxResult: 2000 }, whole: {} });
    await hub.open();
    const names = await hub.toolNames();
    expect(names.filter((name) => name.includes('unwedge'))).toEqual(['unwedge_read_result']);
    for (const server of ['one', 'other']) {
      const told = await hub.call(`${server}__act`, { text: server.repeat(1000) });
      const [, handle = '', from = ''] = /unwedge_read_result {"handle":"([^"]+)","from":(\d+)}/.exec(told) ?? [];
      expect(await hub.call('unwedge_read_result', { handle, from: Number(from) - (Number(from) % 15) })).toMatch(
        new RegExp(`^(${server})+`),
      );
    }
    expect(await hub.call('whole__act', { text: 'x'.repeat(5000) })).toHaveLength(5000);
  });

  it('[P-12] [P-11] [P-8] are read on whatever the rules of each server are', async () => {
    const tools = { 'a*': { rename: 'k_*' } };
    const policies = { integrations: { one: { tools } } };
    const maxResult = 2000;
    const hub = await startHub(
      {
        one: { maxResult },
        other: { maxResult, allow: ['peek'], pin: true },
        none: { maxResult, deny: ['*'] },
      },
      [],
      policies,
    );
    await hub.open();
    const names = await hub.toolNames();
    expect(names.filter((name) => !name.startsWith('one__'))).toEqual(['unwedge_read_result', 'other__peek']);
    expect(names).toContain('one__k_ct');
    for (const name of ['one__k_ct', 'other__peek']) {
      const told = await hub.call(name, { text: 'x'.repeat(5000) });
      const [, handle = ''] = /"handle":"([^"]+)"/.exec(told) ?? [];
      expect(await hub.call('unwedge_read_result', { handle, bytes: 100 })).toMatch(/^x{90,100}$/);
    }
  });
});
