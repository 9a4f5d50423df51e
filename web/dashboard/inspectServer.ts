import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { endUpgrade, type HttpServerOptions, sendText, startHttpServer } from '../server/httpServer.ts';
import { inspectPage } from './page/dashboardPage.ts';
import { sendPage } from '../server/page.ts';
import { sendEvents } from '../server/sendEvents.ts';
import type { WebSocket } from 'ws';
import { isOfficial } from '../../src/inspector/face.ts';
import { lateModule } from '../../src/actors/process/face.ts';

/** The official inspector. */
export const statelyInspectorUrl = 'https://stately.ai/inspect';

export interface InspectorServerOptions extends Pick<HttpServerOptions, 'clock' | 'port' | 'holdsProcess'> {
  /** A stream of frames for one viewer; what it rejects with ends the viewer's request. */
  readonly open: () => Promise<Readable> | Readable;
  /** Address of the official inspector, when it is to be shown in place of our page. It gets what is shown. */
  readonly stately?: string | undefined;
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
    if (request.method !== 'GET') return sendText(response, 405, 'Method Not Allowed');
    switch (pathOf(request)) {
      case '/':
        return sendPage(response, inspectPage(stately));
      case '/events': {
        const stream = await openFor().catch(() => null);
        if (stream === undefined) return sendText(response, 503, 'Too many viewers');
        if (stream === null) return sendText(response, 502, 'The gateway does not answer');
        return sendEvents(stream, response);
      }
      default:
        return sendText(response, 404, 'Not Found');
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

const webSocketModule = lateModule(() => import('ws'));

/** Close codes: the server goes away; it is busy, try later. */
const goingAway = 1001;
const tryAgainLater = 1013;

/**
 * Speaks the official wire format to one viewer: a text message a frame, no faster than they are read. What the viewer says is not heard.
 * @param open - undefined when there are too many viewers.
 */
export async function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  open: () => Promise<Readable | undefined>,
): Promise<void> {
  const { WebSocketServer } = await webSocketModule();
  const server = new WebSocketServer({ noServer: true, maxPayload: 1024, perMessageDeflate: false });
  const webSocket = await new Promise<WebSocket>((resolve) => server.handleUpgrade(request, socket, head, resolve));
  webSocket.on('error', () => webSocket.terminate());
  const frames = await open().catch(() => undefined);
  if (frames === undefined) {
    webSocket.close(tryAgainLater);
    return;
  }
  webSocket.once('close', () => frames.destroy());
  if (webSocket.readyState !== webSocket.OPEN) frames.destroy();
  try {
    for await (const frame of frames) if (isOfficial(frame as string)) await send(webSocket, frame as string);
    webSocket.close(goingAway);
  } catch {
    webSocket.terminate();
  }
}

function send(webSocket: WebSocket, frame: string): Promise<void> {
  return new Promise((resolve, reject) => {
    webSocket.send(frame, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
