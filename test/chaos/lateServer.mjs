// An MCP server by Streamable HTTP whose tool takes its time: `node lateServer.mjs PORT JOURNAL`. Says `ready PORT`; `stdio` in place of the port is one by
// stdio. What it begins and ends is appended to its journal: `started PID`, `begun RUN QUESTION CLIENT TIME`, `ended RUN QUESTION TIME`; the answer of a run is its name.
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const [, , port, journal] = process.argv;
const note = (...words) => appendFileSync(journal, `${words.join(' ')}\n`);
const transports = new Map();
/** Ends of the runs under way. */
const held = new Set();

function made() {
  const server = new McpServer({ name: 'late', version: '1.0.0' });
  server.registerTool('work', { inputSchema: { question: z.string(), ms: z.number() } }, async ({ question, ms }) => {
    const run = randomUUID();
    note('begun', run, question, server.server.getClientVersion()?.name, Date.now());
    await Promise.race([wait(ms), new Promise((resolve) => held.add(resolve))]);
    note('ended', run, question, Date.now());
    return { content: [{ type: 'text', text: run }] };
  });
  server.registerTool('release', { inputSchema: {} }, () => {
    for (const end of held) end();
    return { content: [] };
  });
  return server;
}

async function sessionOf(id) {
  const known = transports.get(id);
  if (known !== undefined || id !== undefined) return known;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void transports.set(session, transport),
  });
  await made().connect(transport);
  return transport;
}

async function answer(request, response) {
  const transport = await sessionOf(request.headers['mcp-session-id']);
  if (transport === undefined) response.writeHead(404).end();
  else await transport.handleRequest(request, response);
}

const server = createServer((request, response) => void answer(request, response));
note('started', process.pid);
if (port === 'stdio') await made().connect(new StdioServerTransport());
else server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`ready ${server.address().port}\n`));
