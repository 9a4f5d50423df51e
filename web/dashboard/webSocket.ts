import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import { isOfficial } from '../../src/inspector/frames.ts';
import { lateModule } from '../../src/actors/process/lateModule.ts';

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
