import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { McpServer as ModernServer } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { withErrorBoundary } from '../../../../proxy/boundary/errorBoundary.ts';

const found = (query: string, signal: AbortSignal) => {
  if (query === '') throw new Error('nothing to look for');
  return { content: [{ type: 'text' as const, text: `${query}, ${signal.aborted ? 'aborted' : 'wanted'}` }] };
};

async function call(server: { connect(transport: never): Promise<void> }, query: string): Promise<unknown> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await Promise.all([server.connect(far as never), client.connect(near)]);
  return client.callTool({ name: 'search', arguments: { query } });
}

/** Types and all: what these register is what their SDKs say a handler is. */
const servers = {
  '@modelcontextprotocol/sdk'() {
    const server = new McpServer({ name: 'kb', version: '1' });
    const boundary = { tool: 'search' };
    server.registerTool(
      'search',
      { inputSchema: { query: z.string() } },
      withErrorBoundary(async ({ query }, { signal }) => found(query, signal), boundary),
    );
    return server;
  },
  '@modelcontextprotocol/server'() {
    const server = new ModernServer({ name: 'kb', version: '1' });
    server.registerTool(
      'search',
      { inputSchema: z.object({ query: z.string() }) },
      withErrorBoundary(async ({ query }, { mcpReq }) => found(query, mcpReq.signal), { tool: 'search' }),
    );
    return server;
  },
  'a server of requests'() {
    const server = new Server({ name: 'kb', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(
      CallToolRequestSchema,
      withErrorBoundary(({ params }, { signal }) => found(String(params.arguments?.['query']), signal)),
    );
    return server;
  },
};

describe.each(Object.entries(servers))('a handler with an error boundary, in %s', (_, makeServer) => {
  it('[P-2] is registered as it would be without', async () => {
    expect(await call(makeServer(), 'bugs')).toMatchObject({ content: [{ text: 'bugs, wanted' }] });
  });

  it('[P-2] answers with an error result', async () => {
    const answer = { isError: true, content: [{ type: 'text', text: 'Error in search: nothing to look for' }] };
    expect(await call(makeServer(), '')).toMatchObject(answer);
  });
});
