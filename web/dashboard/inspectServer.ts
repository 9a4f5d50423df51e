import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { Clock } from '../../src/policy/clock.ts';
import { endUpgrade, noTrace, startHttpServer } from '../server/httpServer.ts';
import { inspectPage } from './page/dashboardPage.ts';
import type { Page } from '../server/page.ts';
import { sendEvents } from '../server/sendEvents.ts';
import { acceptWebSocket } from './webSocket.ts';

/** The official inspector. */
export const statelyInspectorUrl = 'https://stately.ai/inspect';

export interface InspectorServerOptions {
  readonly clock: Clock;
  /** A stream of frames for one viewer; what it rejects with ends the viewer's request. */
  readonly open: () => Promise<Readable> | Readable;
  /** @defaultValue 0, a free one */
  readonly port?: number | undefined;
  /** Address of the official inspector, when it is to be shown in place of our page. It gets what is shown. */
  readonly stately?: string | undefined;
  /** Keeps the process alive. @defaultValue false */
  readonly holdsProcess?: boolean | undefined;
  /** Viewers at a time. @defaultValue 8 */
  readonly maxViewers?: number | undefined;
}

export interface InspectorServer {
  /** Address of the page, with its token. */
  readonly url: string;
  /** Address where the official receiver gets its frames, with the token. */
  readonly webSocketUrl: string;
  /**
   * Stops listening and lets every viewer go. Later calls join the first. Never rejects.
   * @param lingerMs - how long viewers may take to read the end of a stream that has one, in ms. @defaultValue 0
   */
  close(lingerMs?: number): Promise<void>;
}

/**
 * Shows frames to viewers on this machine: the dashboard's page, with one view, and the official wire format over a WebSocket. Listens on the loopback
 * address only; a request without the token, or from another site, gets 403.
 *
 * @throws Error when the port cannot be had.
 */
export async function startInspectorServer(options: InspectorServerOptions): Promise<InspectorServer> {
  const { clock, port, open, stately, holdsProcess, maxViewers = 8 } = options;
  const token = randomBytes(18).toString('base64url');
  const viewers = new Set<Readable>();
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

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET') return refuse(response, 405, 'Method Not Allowed');
    switch (pathOf(request)) {
      case '/':
        return sendPage(response, inspectPage(stately));
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

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void | Promise<void> {
    if (pathOf(request) !== '/ws') return endUpgrade(socket, '404 Not Found');
    return acceptWebSocket(request, socket, head, openFor);
  }

  const server = await startHttpServer({
    ...{ clock, port, holdsProcess, answer, upgrade, maxConnections: 200 },
    token: { value: token, in: 'query' },
  });
  const address = `127.0.0.1:${server.port}`;

  return {
    url: `http://${address}/?token=${token}`,
    webSocketUrl: `ws://${address}/ws?token=${token}`,
    close(lingerMs = 0) {
      closing ??= endAll(lingerMs);
      return closing;
    },
  };

  async function endAll(lingerMs: number): Promise<void> {
    if (lingerMs === 0) dismiss();
    await server.close(lingerMs);
    dismiss();
  }

  function dismiss(): void {
    for (const viewer of viewers) viewer.destroy();
  }
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '/';
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...noTrace, 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
  response.end(`${text}\n`);
}

function sendPage(response: ServerResponse, { html, policy }: Page): void {
  response.writeHead(200, {
    ...noTrace,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy,
    'X-Frame-Options': 'DENY',
  });
  response.end(html);
}
