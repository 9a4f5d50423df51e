import { McpProxy } from '../../../proxy/mcp/mcpProxy.ts';
import { checkMcpProxy } from '../../../proxy/mcp/settings.ts';
import {
  asOfRecord,
  pageOnRecord,
  readRecordedHandshake,
  type RecordedHandshake,
} from '../../../proxy/wire/recordedHandshake.ts';
import { createPeer, keyOf, type Peer } from '../peer.ts';
import { counted, ProxyWorld } from '../proxyWorld.ts';
import { rpc } from '../seeds.ts';
import { must, type Target } from '../target.ts';

const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: { listChanged: true }, prompts: {} },
  serverInfo: { name: 's', version: '1' },
};
const tools = [{ name: 'read', inputSchema: { type: 'object' } }];
const records: readonly RecordedHandshake[] = [
  { initialize, lists: { 'tools/list': [{ tools }], 'prompts/list': [{ prompts: [] }] } },
  {
    initialize: { ...initialize, instructions: 'read' },
    refused: { code: -32601, message: 'no' },
    lists: {
      'tools/list': [
        { tools, nextCursor: 'b' },
        { tools: [{ ...tools[0], name: 'write' }], ttlMs: 5000 },
      ],
    },
  },
  { discover: { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }, lists: {} },
];

/** The record of an earlier handshake, as its file holds it: whatever it says, a client of `unwedge mcp` gets one answer to each request, before and after its server is there. */
export function handshake(): Target {
  return {
    seeds: records.map((record) => JSON.stringify(record)),
    words: ['tools/list', 'nextCursor', 'protocolVersion', '2026-07-28'],
    async run(input) {
      const recorded = readRecordedHandshake(parsed(input.toString('utf8')));
      if (recorded === undefined) return;
      for (const method of Object.keys(recorded.lists)) {
        const page = pageOnRecord(recorded, { method, params: {} });
        must(page !== undefined, `the first page of ${method} is not found`);
        JSON.stringify(asOfRecord(page));
        pageOnRecord(recorded, { method, params: { cursor: page['nextCursor'] } });
      }
      await greet(recorded);
    },
  };
}

async function greet(recorded: RecordedHandshake): Promise<void> {
  let isThere = false;
  const waiting: (() => void)[] = [];
  const peer: Peer = createPeer((message, its) => {
    const id = message.id;
    if (keyOf(id) === undefined || typeof message.method !== 'string') return;
    const result = message.method === 'initialize' ? initialize : message.method === 'tools/list' ? { tools } : {};
    const answer = (): void => its.say(rpc({ id, result }));
    if (isThere) answer();
    else waiting.push(answer);
  });
  const handshakes = { find: () => recorded, keep: () => undefined, drop: () => undefined };
  const world = new ProxyWorld((runtime, around) => {
    const settings = checkMcpProxy({ name: 'kb', command: 'peer' }, runtime);
    runtime.join(new McpProxy(runtime, { ...settings, server: peer }, { ...around, handshakes }));
  });
  await world.start();
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
  world.write(
    rpc({ id: 'open', method: 'initialize', params }) +
      rpc({ method: 'notifications/initialized' }) +
      rpc({ id: 'tools', method: 'tools/list' }) +
      rpc({ id: 'prompts', method: 'prompts/list' }),
  );
  await world.settle();
  isThere = true;
  for (const answer of waiting) answer();
  world.write(rpc({ id: 'call', method: 'tools/call', params: { name: 'read', arguments: {} } }));
  await world.settle();
  await world.clock.advance(600_000);
  const answers = counted(world.take(), 'answers');
  await world.stop();
  for (const id of ['open', 'tools', 'prompts', 'call'])
    must(answers.get(JSON.stringify(id)) === 1, `${id} was answered ${answers.get(JSON.stringify(id)) ?? 0} times`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
