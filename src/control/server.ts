import { chmodSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Clock } from '../policy/clock.ts';
import { rpcLine } from '../protocol/jsonRpc.ts';
import { type Methods, serveClient } from './serveClient.ts';

export interface ControlServerOptions {
  /** Path to listen at; nothing may be there. Ends with `.sock`. */
  readonly path: string;
  readonly methods: Methods;
  readonly clock: Clock;
  /** Clients at a time; one more is told so and let go. @defaultValue 16 */
  readonly maxClients?: number | undefined;
  /** Longest request, in bytes. @defaultValue 65536 */
  readonly maxLineBytes?: number | undefined;
  /** Time in ms that a client may take for a request, and to read its answer. @defaultValue 30000 */
  readonly idleMs?: number | undefined;
}

/** A server of one runtime. It never keeps the process alive. */
export interface ControlServer {
  /** Result of the start: it listens now, or the error. Never rejects; `closed` when it was closed before. */
  readonly ready: Promise<{ readonly ok: true } | { readonly ok: false; readonly error: unknown }>;
  /** Lets every client go and removes the socket, at once. */
  close(): void;
}

/** Error code for a client too many; of the range that JSON-RPC leaves to servers. */
const tooManyClients = -32_000;

/**
 * Answers requests on a Unix socket that its user alone may open: line-delimited JSON-RPC 2.0, one request of a client at a time.
 */
export function startControlServer(options: ControlServerOptions): ControlServer {
  const { path, methods, clock, maxClients = 16, maxLineBytes = 65_536, idleMs = 30_000 } = options;
  const clients = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.unref();
    // Without a listener the loss of a client would end the process.
    socket.on('error', () => undefined);
    if (clients.size >= maxClients) {
      const message = `This runtime has ${maxClients} clients already`;
      socket.end(rpcLine({ id: null, error: { code: tooManyClients, message } }), () => socket.destroy());
      return;
    }
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
    void serveClient(socket, { methods, clock, maxLineBytes, idleMs });
  });
  server.unref();

  // Listens under another name first: under its own it is always listening and private.
  const fresh = path.replace(/sock$/, 'new');
  const ready = new Promise<Awaited<ControlServer['ready']>>((resolve) => {
    server.on('error', (error) => resolve({ ok: false, error }));
    server.once('close', () => resolve({ ok: false, error: new Error('closed') }));
    server.once('listening', () => {
      try {
        chmodSync(fresh, 0o600);
        renameSync(fresh, path);
        resolve({ ok: true });
      } catch (error) {
        resolve({ ok: false, error });
        close();
      }
    });
  });
  // Not shared between the workers of a cluster: each is a runtime of its own.
  server.listen({ path: fresh, exclusive: true });

  function close(): void {
    server.close();
    for (const client of clients) client.destroy();
    for (const each of [fresh, path]) remove(each);
  }
  return { ready, close };
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Its directory is gone or no longer writable: the socket is dead either way.
  }
}
