import { createInterface } from 'node:readline';

// The least an MCP server can be, so that what stands in front of it shows: no SDK, no checks.
interface Request {
  readonly id?: string | number | undefined;
  readonly method: string;
  readonly params?: {
    readonly protocolVersion?: string | undefined;
    readonly name?: string | undefined;
    readonly arguments?: { readonly text?: string; readonly count?: number } | undefined;
    readonly _meta?: { readonly progressToken?: string | number } | undefined;
  };
}

const tool = (name: string) => ({ name, description: name, inputSchema: { type: 'object' } });
const write = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line) as Request;
  if (id !== undefined) write({ id, result: answer(method, params) });
});

function answer(method: string, params: NonNullable<Request['params']>): object {
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1.0.0' } };
  }
  if (method === 'tools/list') return { tools: ['echo', 'large', 'steps'].map(tool) };
  if (method !== 'tools/call') return {};
  const { text = '', count = 0 } = params.arguments ?? {};
  if (params.name === 'large') return { content: [{ type: 'text', text: 'x'.repeat(count) }] };
  const progressToken = params._meta?.progressToken;
  for (let progress = 1; params.name === 'steps' && progress <= count; progress++) {
    write({ method: 'notifications/progress', params: { progressToken, progress } });
  }
  return { content: [{ type: 'text', text }] };
}
