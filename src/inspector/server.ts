import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../policy/clock.ts';
import { type AccessRules, isAllowed } from './access.ts';
import { inspectorPage } from './page/inspectorPage.ts';
import type { Page } from './page/page.ts';
import { statelyPage } from './page/statelyPage.ts';
import { sendEvents } from './serverSentEvents.ts';
import { acceptWebSocket } from './webSocket.ts';

/** The official inspector. */
export const statelyInspectorUrl = 'https://stately.ai/inspect';

export interface InspectorServerOptions {
  readonly clock: Clock;
  /** A stream of frames for one viewer; what it rejects with ends the viewer's request. */
  readonly open: () => Promise<Readable> | Readable;
  /** @defaultValue 0, a free one */
  readonly port?: number | undefined;
  /** Where the official inspector is, when it is to be shown in place of our page. It gets what is shown. */
  readonly stately?: string | undefined;
  /** Whether it keeps the process alive. @defaultValue false */
  readonly holdsProcess?: boolean | undefined;
  /** Viewers at a time. @defaultValue 8 */
  readonly maxViewers?: number | undefined;
}

export interface InspectorServer {
  /** Where the page is, with its token. */
  readonly url: string;
  /** Where the official receiver gets its frames, with the token. */
  readonly webSocketUrl: string;
  /**
   * Stops listening and lets every viewer go. Later calls join the first. Never rejects.
   * @param lingerMs - how long viewers may take to read the end of a stream that has one, in ms. @defaultValue 0
   */
  close(lingerMs?: number): Promise<void>;
}

/**
 * Shows frames to viewers on this machine: a page of our own, and the official wire format over a WebSocket. Listens on the loopback
 * address only; a request without the token, or from another site, gets 403.
 *
 * @throws Error when the port cannot be had.
 */
export async function startInspectorServer(options: InspectorServerOptions): Promise<InspectorServer> {
  const { open, stately, holdsProcess = false, maxViewers = 8 } = options;
  const token = randomBytes(18).toString('base64url');
  const rules: { -readonly [K in keyof AccessRules]: AccessRules[K] } = { token, port: 0 };
  const viewers = new Set<Readable>();
  const sockets = new Set<Duplex>();
  let closing: Promise<void> | undefined;
  let opening = 0;

  /** Undefined when there are too many viewers; rejects when there is nothing to watch. */
  async function openFor(): Promise<Readable | undefined> {
    if (viewers.size + opening >= maxViewers) return undefined;
    opening += 1;
    try {
      const stream = await open();
      viewers.add(stream);
      // A viewer that leaves is an error to what it reads from, and none to us.
      stream.on('error', () => undefined);
      stream.once('close', () => viewers.delete(stream));
      if (closing !== undefined) stream.destroy();
      return stream;
    } finally {
      opening -= 1;
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isAllowed(request, rules)) return refuse(response, 403, 'Forbidden');
    if (request.method !== 'GET') return refuse(response, 405, 'Method Not Allowed');
    switch (pathOf(request)) {
      case '/':
        return sendPage(response, stately === undefined ? inspectorPage() : statelyPage(stately));
      case '/events': {
        const stream = await openFor().catch(() => null);
        if (stream === undefined) return refuse(response, 503, 'Too many viewers');
        if (stream === null) return refuse(response, 502, 'The gateway does not answer');
        return sendEvents(stream, response);
      }
      default:
        return refuse(response, 404, 'Not Found');
    }
  }

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    if (!isAllowed(request, rules) || pathOf(request) !== '/ws') {
      // Half of the connection would stay open for as long as the other side likes, and with it the server.
      socket.once('finish', () => socket.destroy());
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    acceptWebSocket(request, socket, head, openFor).catch(() => socket.destroy());
  });
  server.on('connection', (socket: Socket) => {
    if (!holdsProcess) socket.unref();
  });

  rules.port = await listen(server, options.port ?? 0);
  if (!holdsProcess) server.unref();

  return {
    url: `http://127.0.0.1:${rules.port}/?token=${token}`,
    webSocketUrl: `ws://127.0.0.1:${rules.port}/ws?token=${token}`,
    close(lingerMs = 0) {
      closing ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        if (lingerMs > 0) options.clock.setTimeout(dismiss, lingerMs);
        else dismiss();
      });
      return closing;
    },
  };

  function dismiss(): void {
    for (const viewer of viewers) viewer.destroy();
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
  }
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      server.off('error', reject);
      // What goes wrong with a listener later, such as too many open files, is no reason to end the process.
      server.on('error', () => undefined);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

const always = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...always, 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(`${text}\n`);
}

function sendPage(response: ServerResponse, { html, policy }: Page): void {
  response.writeHead(200, {
    ...always,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'DENY',
  });
  response.end(html);
}
