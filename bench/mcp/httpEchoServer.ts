import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// The least a remote MCP server can be: it answers each request with JSON, and has no standing stream.
interface Message {
  readonly id?: string | number | undefined;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly arguments?: { readonly text?: string } } | undefined;
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const chunks: string[] = [];
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => chunks.push(chunk));
  request.on('end', () => {
    const { id, method, params = {} } = JSON.parse(chunks.join('')) as Message;
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id, ...answer(method, params) });
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'bench' }).end(body);
  });
});

server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

function answer(method: string, params: NonNullable<Message['params']>): object {
  if (method === 'server/discover') return { error: { code: -32_601, message: 'Method not found' } };
  if (method === 'initialize') {
    const { protocolVersion } = params;
    return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1.0.0' } } };
  }
  if (method === 'tools/list') return { result: { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] } };
  if (method !== 'tools/call') return { result: {} };
  return { result: { content: [{ type: 'text', text: params.arguments?.text ?? '' }] } };
}
