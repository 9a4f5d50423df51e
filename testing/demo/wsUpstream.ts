import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { close, listen } from '../loopback.ts';

/** A WebSocket gateway on loopback: one path restarts and comes back, one is lost and stays away. */
export interface WsUpstream {
  readonly url: string;
  close(): Promise<void>;
}

/** Time that the restart takes, in ms. */
const restartMs = 50;

/** Listens on a free port of 127.0.0.1. */
export async function startWsUpstream(): Promise<WsUpstream> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const restarted = new Set<string>();
  /** Paths that answer no handshake. The port stays taken meanwhile, so that no stranger can get it. */
  const away = new Set<string>();

  server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => undefined);
    const path = request.url ?? '/';
    if (away.has(path)) stream.destroy();
    else sockets.handleUpgrade(request, stream, head, (socket) => serve(socket, path));
  });

  function serve(socket: WebSocket, path: string): void {
    socket.on('error', () => undefined);
    socket.on('message', () => {
      if (path === '/ws-lost') lose(socket, path);
      else if (restarted.has(path)) socket.send('back again');
      else restart(socket, path);
    });
  }

  function lose(socket: WebSocket, path: string): void {
    away.add(path);
    // Without a close frame: the other side sees 1006.
    socket.terminate();
  }

  function restart(socket: WebSocket, path: string): void {
    restarted.add(path);
    away.add(path);
    socket.close(1012, 'service restart');
    setTimeout(() => away.delete(path), restartMs).unref();
  }

  const port = await listen(server);
  return {
    url: `ws://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets.clients) socket.terminate();
      return close(server);
    },
  };
}
