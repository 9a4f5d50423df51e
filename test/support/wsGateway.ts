import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { ToolRequest } from '../../src/sessions/toolRequest.ts';

/** A WebSocket server that answers each request by what a test says for it, in order; at the end of the list it answers `found`. */
export interface WsGateway {
  /** What it was asked, in order: the tool of each request. */
  readonly asked: string[];
  /** An operation that asks it, over a connection of its own for each request. */
  readonly request: (request: ToolRequest) => Promise<unknown>;
}

/** `number`: closes the connection with this code. Text: answers with this error. */
export async function startWsGateway(...replies: readonly (number | string)[]): Promise<WsGateway> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        for (const client of server.clients) client.terminate();
        server.close(() => resolve());
      }),
  );
  const asked: string[] = [];
  server.on('connection', (socket) => {
    socket.on('message', (data: Buffer) => {
      const reply = replies[asked.push(data.toString()) - 1];
      if (typeof reply === 'number') socket.close(reply, 'service restart');
      else socket.send(JSON.stringify(reply === undefined ? { value: 'found' } : { error: reply }));
    });
  });
  const { port } = server.address() as AddressInfo;
  return { asked, request: ({ tool }) => ask(`ws://127.0.0.1:${port}`, tool) };
}

function ask(url: string, tool: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on('open', () => socket.send(tool));
    socket.on('message', (data: Buffer) => {
      const { value, error } = JSON.parse(data.toString()) as { value?: unknown; error?: string };
      if (error === undefined) resolve(value);
      else reject(new Error(error));
      socket.terminate();
    });
    socket.on('error', reject);
    socket.on('close', (code, reason) => reject(new Error(`gateway closed (${code}): ${String(reason)}`)));
  });
}
