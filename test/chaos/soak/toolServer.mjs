// An MCP server by stdio, small enough to be started again and again: `node toolServer.mjs`. Its tools: `echo` answers its `text`, `slow` after `ms`, `die` ends the
// process, `large` gives 20 kB, `eat` takes memory until none is left. It writes no record, and keeps nothing of a call that has ended.
import { createInterface } from 'node:readline';

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const about = (name, readOnlyHint) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint } });
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const tools = {
  echo: (id, input) => say({ id, result: text(String(input.text)) }),
  large: (id) => say({ id, result: text('x'.repeat(20_000)) }),
  slow: (id, input) => void setTimeout(() => say({ id, result: text(String(input.text)) }), input.ms),
  die: () => process.exit(3),
  eat() {
    for (const eaten = []; ; ) eaten.push(Array.from({ length: 10_000 }, (_, n) => n));
  },
};
const methods = {
  initialize: (id, { protocolVersion }) =>
    say({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'tools', version: '1.0.0' } },
    }),
  ping: (id) => say({ id, result: {} }),
  'tools/list': (id) => say({ id, result: { tools: Object.keys(tools).map((name) => about(name, name === 'echo')) } }),
  'tools/call': (id, { name, arguments: input = {} }) => tools[name](id, input),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const answer = methods[method];
  if (answer === undefined) say({ id, error: { code: -32601, message: `no method ${method}` } });
  else answer(id, params);
});
