// An MCP server for the tour where the reference server is not installed: the two tools of it that the tour calls, by hand, since the
// official package for servers is 7 MB that nothing else here needs.
import { setTimeout as delay } from 'node:timers/promises';
import { type RpcRequest, createLineSplitter, parseRpc, rpcErrors, rpcLine } from '../../src/protocol/face.ts';
import { fieldsOf } from '../../src/protocol/mcp/face.ts';

const longestMessageBytes = 2 ** 20;
const answers: Readonly<Record<string, (request: RpcRequest) => object | Promise<object>>> = {
  initialize: ({ params }) => ({
    protocolVersion: fieldsOf(params)['protocolVersion'],
    capabilities: { tools: {} },
    serverInfo: { name: 'unwedge-demo', version: '0.1.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      tool('echo', { message: { type: 'string' } }, ['message']),
      tool('trigger-long-running-operation', { duration: { type: 'number' }, steps: { type: 'number' } }, []),
    ],
  }),
  'tools/call': ({ params }) => {
    const { name, arguments: given, _meta } = fieldsOf(params);
    if (name === 'echo') return text(`Echo: ${String(fieldsOf(given)['message'])}`);
    if (name === 'trigger-long-running-operation') return runLong(fieldsOf(given), fieldsOf(_meta)['progressToken']);
    return { ...text(`Unknown tool: ${String(name)}`), isError: true };
  },
};

async function runLong(given: Readonly<Record<string, unknown>>, progressToken: unknown): Promise<object> {
  const { duration = 10, steps = 5 } = given as { duration?: number; steps?: number };
  for (let progress = 1; progress <= steps; progress++) {
    await delay((duration / steps) * 1000);
    const params = { progressToken, progress, total: steps };
    if (progressToken !== undefined) write({ method: 'notifications/progress', params });
  }
  return text(`Long running operation completed. Duration: ${duration} seconds, Steps: ${steps}.`);
}

async function receive(line: string): Promise<void> {
  const message = parseRpc(line);
  if (message.kind !== 'request') return;
  const answer = Object.hasOwn(answers, message.method) ? answers[message.method] : undefined;
  const unknown = { code: rpcErrors.methodNotFound, message: `Method not found: ${message.method}` };
  const reply = rpcLine({
    id: message.id,
    ...(answer === undefined ? { error: unknown } : { result: (await answer(message)) ?? null }),
  });
  process.stdout.write(reply);
}

function write(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function tool(name: string, properties: object, required: readonly string[]): object {
  return { name, inputSchema: { type: 'object', properties, required } };
}

function text(value: string): object {
  return { content: [{ type: 'text', text: value }] };
}

const lines = createLineSplitter({
  maxBytes: longestMessageBytes,
  onLine: (line) => void receive(line),
  onTooLong: () => undefined,
});
process.stdout.on('error', () => process.exit());
process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
// An operation that runs is not waited for: nobody can read its answer.
process.stdin.on('end', () => process.exit());
