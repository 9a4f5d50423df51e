// An MCP server for the tour where the reference server is not installed: the two tools of it that the tour calls.
import { setTimeout as delay } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'unwedge-demo', version: '0.1.0' });
const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => text(`Echo: ${message}`));

server.registerTool(
  'trigger-long-running-operation',
  { inputSchema: { duration: z.number().default(10), steps: z.number().default(5) } },
  async ({ duration, steps }, { _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    for (let progress = 1; progress <= steps; progress++) {
      await delay((duration / steps) * 1000);
      if (progressToken === undefined) continue;
      const params = { progressToken, progress, total: steps };
      await sendNotification({ method: 'notifications/progress', params });
    }
    return text(`Long running operation completed. Duration: ${duration} seconds, Steps: ${steps}.`);
  },
);

await server.connect(new StdioServerTransport());
