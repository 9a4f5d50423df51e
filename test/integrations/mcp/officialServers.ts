import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { McpServer as ServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { deferred } from '../../support/deferred.ts';

/** A server of an official SDK on a port of its own. */
export interface OfficialServer {
  readonly url: string;
  /** How often its tool ran. */
  readonly ran: () => number;
  /** Resolves when a client has asked for what the server says unasked. */
  readonly listened: Promise<void>;
  /** Breaks every connection. */
  cut(): void;
  /** Is gone, sessions and all, and comes back on the same port. */
  restart(): Promise<void>;
  /** Adds a tool, which the server tells of itself. */
  addTool(name: string): void;
}

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(
  make: () => Handle,
  path: string,
  ran: () => number,
  addTool: OfficialServer['addTool'],
): Promise<OfficialServer> {
  let port = 0;
  let http: Server | undefined;
  const sockets = new Set<Socket>();
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const listened = deferred<undefined>();
  const start = async (): Promise<void> => {
    const server = createServer(make());
    server.on('request', ({ method, headers }) => {
      if (method === 'GET' || headers['mcp-method'] === 'subscriptions/listen') listened.resolve(undefined);
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    http = server;
  };
  const stop = async (): Promise<void> => {
    cut();
    await new Promise((resolve) => http?.close(resolve));
  };
  await start();
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${port}${path}`,
    ran,
    listened: listened.promise.then(() => undefined),
    cut,
    async restart() {
      await stop();
      await start();
    },
    addTool,
  };
}

/** SDK 1: sessions, and events that can be resumed. `wait` holds its answer until `held` resolves. */
export function startSessions(held?: Promise<void>): Promise<OfficialServer> {
  let runs = 0;
  let last: ServerV1 | undefined;
  const make = (): Handle => {
    const transports = new Map<string, StreamableHTTPServerTransport>();
    const eventStore = new InMemoryEventStore();
    const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? transports.get(id) : undefined;
      if (known !== undefined) return known.handleRequest(request, response);
      if (typeof id === 'string') {
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}');
        return;
      }
      const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore,
        onsessioninitialized: (session) => void transports.set(session, transport),
      });
      last = serverV1(() => runs++, held);
      await last.connect(transport as Transport);
      await transport.handleRequest(request, response);
    };
    return (request, response) => void take(request, response);
  };
  return serve(
    make,
    '/mcp',
    () => runs,
    (name) => void last?.registerTool(name, {}, () => ({ content: [] })),
  );
}

/** SDK 1: the transport of 2024. */
export function startOlder(): Promise<OfficialServer> {
  let runs = 0;
  let last: ServerV1 | undefined;
  const make = (): Handle => {
    const transports = new Map<string, SSEServerTransport>();
    const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (request.method === 'GET' && url.pathname === '/sse') {
        const transport = new SSEServerTransport('/messages', response);
        transports.set(transport.sessionId, transport);
        last = serverV1(() => runs++, undefined);
        await last.connect(transport);
      } else if (request.method === 'POST' && url.pathname === '/messages') {
        const transport = transports.get(url.searchParams.get('sessionId') ?? '');
        if (transport === undefined) response.writeHead(404).end('no such session');
        else await transport.handlePostMessage(request, response);
      } else response.writeHead(405).end();
    };
    return (request, response) => void take(request, response);
  };
  return serve(
    make,
    '/sse',
    () => runs,
    (name) => void last?.registerTool(name, {}, () => ({ content: [] })),
  );
}

/** SDK 2, which serves both eras without sessions. */
export function startStateless(): Promise<OfficialServer> {
  let runs = 0;
  const extra: string[] = [];
  let handler: ReturnType<typeof createMcpHandler> | undefined;
  const make = (): Handle => {
    handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'official', version: '2' });
      const inputSchema = z.object({ text: z.string() });
      server.registerTool('find', { inputSchema }, ({ text }) => {
        runs++;
        return { content: [{ type: 'text', text }] };
      });
      for (const name of extra) server.registerTool(name, {}, () => ({ content: [] }));
      return server;
    });
    const { fetch } = handler;
    return getRequestListener((request) => fetch(request)) as Handle;
  };
  return serve(
    make,
    '/mcp',
    () => runs,
    (name) => {
      extra.push(name);
      handler?.notify.toolsChanged();
    },
  );
}

function serverV1(ran: () => void, held: Promise<void> | undefined): ServerV1 {
  const server = new ServerV1({ name: 'official', version: '1' });
  server.registerTool('find', { inputSchema: { text: z.string() } }, async ({ text }) => {
    ran();
    await held;
    return { content: [{ type: 'text', text }] };
  });
  return server;
}
