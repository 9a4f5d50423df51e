import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The repository: programs are run in it. */
const root = process.cwd();

/** The texts of the recordings in a folder of test/fixtures, those of at most so many bytes. */
export function recorded(folder: string, ending: RegExp, mostBytes = 4096): string[] {
  const directory = join(root, 'test/fixtures', folder);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => ending.test(name) && statSync(join(directory, name)).size <= mostBytes)
    .map((name) => readFileSync(join(directory, name), 'utf8'));
}

/** Rounds of agents whose model makes one call for ever, as lines. */
export function rounds(file: string): string[] {
  const all = JSON.parse(readFileSync(join(root, 'test/fixtures/agents', file), 'utf8')) as Record<
    string,
    Record<string, readonly object[]>
  >;
  return Object.values(all).flatMap((kinds) =>
    Object.values(kinds).map((lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')),
  );
}

export const rpc = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

/** What clients and servers of MCP say to each other. */
export const fromMcpClient = [
  rpc({ id: 1, method: 'tools/list' }) +
    rpc({
      id: 2,
      method: 'tools/call',
      params: { name: 'read', arguments: { path: '/a' }, _meta: { progressToken: 'p1' } },
    }),
  rpc({ id: 'a', method: 'tools/call', params: { name: 'write', arguments: { n: 1.5e300 } } }) +
    rpc({ method: 'notifications/cancelled', params: { requestId: 'a', reason: 'no' } }),
  `[${[
    { id: 3, method: 'ping' },
    { id: 4, method: 'prompts/list' },
  ]
    .map((each) => rpc(each).trim())
    .join(',')}]\n`,
  rpc({ id: 5, method: 'resources/subscribe', params: { uri: 'file:///a' } }) +
    rpc({ id: 6, method: 'logging/setLevel', params: { level: 'debug' } }),
  rpc({
    id: 7,
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: 'b' } },
  }),
  rpc({ id: 8, method: 'tools/call', params: { name: 'read', arguments: {}, task: { ttl: 60000 } } }) +
    rpc({ id: 9, method: 'tasks/get', params: { taskId: 't' } }) +
    rpc({ id: 10, method: 'tasks/result', params: { taskId: 't' } }),
  rpc({ id: 'q', result: { action: 'accept', content: { a: 1 } } }) +
    rpc({ id: 'r', error: { code: -1, message: 'no' } }),
  rpc({ method: 'notifications/progress', params: { progressToken: 1, progress: 1, total: 2 } }) +
    rpc({ method: 'notifications/roots/list_changed' }),
  rpc({
    id: 11,
    method: 'server/discover',
    params: {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
      },
    },
  }),
  rpc({ id: 12, method: 'subscriptions/listen', params: { _meta: {}, notifications: { toolsListChanged: true } } }),
];

export const fromMcpServer = [
  rpc({ id: 'ID0', result: { content: [{ type: 'text', text: 'done' }], isError: false } }),
  rpc({
    method: 'notifications/progress',
    params: { progressToken: 'TOKEN', progress: 1, total: 2, message: 'half' },
  }) + rpc({ id: 'ID1', result: { content: [] } }),
  rpc({ id: 'ID0', error: { code: -32603, message: 'no', data: { a: 1 } } }),
  `log line {"jsonrpc":"2.0","id":"ID0","result":{"content":[{"type":"text","text":"x"}]}}\n`,
  rpc({ id: 's1', method: 'sampling/createMessage', params: { messages: [], maxTokens: 5 } }) +
    rpc({ id: 's2', method: 'roots/list' }),
  rpc({
    id: 9,
    method: 'elicitation/create',
    params: { message: 'Sure?', requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } } } },
  }),
  `[${['ID0', 'ID1'].map((id) => rpc({ id, result: { content: [] } }).trim()).join(',')}]\n`,
  rpc({ method: 'notifications/message', params: { level: 'info', data: 'x' } }) +
    rpc({ method: 'notifications/tools/list_changed' }),
  rpc({ id: 'ID0', result: { content: [{ type: 'text', text: 'x' }], isError: true, structuredContent: { a: 1 } } }),
  rpc({
    id: 'ID0',
    result: { task: { taskId: 't', status: 'working', ttl: 1000, createdAt: '2026-01-01T00:00:00Z' } },
  }) + rpc({ method: 'notifications/tasks/status', params: { taskId: 't', status: 'completed' } }),
  rpc({ method: 'notifications/cancelled', params: { requestId: 's1' } }) +
    rpc({ method: 'notifications/subscriptions/acknowledged', params: {} }),
];
