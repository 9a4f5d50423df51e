// Elsewhere, on this machine: an MCP server by Streamable HTTP at /mcp, and the API of a model at /v1/messages. `node remote.mjs PORT` says `ready PORT`.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const sessions = new Set();
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const tools = ['echo', 'slow'].map((name) => ({
  name,
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: name === 'echo' },
}));
const capabilities = { tools: {} };

const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities,
    serverInfo: { name: 'remote', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools }),
  async 'tools/call'({ name, arguments: input }) {
    if (name === 'slow') await wait(input.ms);
    return text(String(input.text));
  },
};

async function mcp(request, response, body) {
  if (request.method === 'DELETE')
    return response.writeHead(sessions.delete(request.headers['mcp-session-id']) ? 200 : 404).end();
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  const headers = { 'content-type': 'application/json' };
  if (method === 'initialize') {
    headers['mcp-session-id'] = randomUUID();
    sessions.add(headers['mcp-session-id']);
  } else if (!sessions.has(request.headers['mcp-session-id'])) return response.writeHead(404).end();
  if (id === undefined) return response.writeHead(202).end();
  const make = results[method];
  const answer = make
    ? { result: await make(params ?? {}) }
    : { error: { code: -32601, message: `no method ${method}` } };
  response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
}

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
async function model(response, body) {
  const { stream, messages } = JSON.parse(body);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', usage };
  const said = messages[0].content;
  response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  await wait(100);
  if (!stream)
    return response.end(
      JSON.stringify({ ...message, content: [{ type: 'text', text: said }], stop_reason: 'end_turn' }),
    );
  response.write(event({ type: 'message_start', message: { ...message, content: [], stop_reason: null } }));
  response.write(event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }));
  for (let piece = 0; piece < 5; piece++) {
    response.write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } }));
    await wait(40);
  }
  response.write(event({ type: 'content_block_stop', index: 0 }));
  response.write(event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage }));
  response.end(event({ type: 'message_stop' }));
}

async function answer(request, response) {
  response.on('error', () => undefined);
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  await (request.url === '/mcp' ? mcp(request, response, body) : model(response, body));
}

const server = createServer((request, response) => void answer(request, response));
server.listen(Number(process.argv[2]), '127.0.0.1', () => process.stdout.write(`ready ${server.address().port}\n`));
