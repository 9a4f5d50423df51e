import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/face.ts';

/** Limits on the time for a body. */
export interface BodyLimits {
  /** Time for which a client may send nothing of it, in ms; up to a quarter more. */
  readonly silenceMs: number;
  /** Time that all of it may take, in ms. */
  readonly wholeMs: number;
}

/** For how long what is left of a body is read whose request was answered, in ms: a connection that is cut at once may lose its answer. */
const restMs = 1000;

/**
 * Lets a connection go whose request announces a body that does not come, with 408 where it has no answer yet. Time in which the body waits to
 * be read is not the client's. Once the request is answered, nobody waits for the rest of its body.
 *
 * @param gaveUp - told when there was no answer yet.
 */
export function watchBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
  clock: Clock,
  gaveUp: () => void,
): void {
  if (!announcesBody(request)) return;
  // Nearly every body has come with its head.
  setImmediate(() => {
    if (!request.complete) watchRest(request, response, limits, clock, gaveUp);
  });
}

function watchRest(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
  clock: Clock,
  gaveUp: () => void,
): void {
  const { socket } = request;
  const tickMs = limits.silenceMs / 4;
  const begunAt = clock.now();
  let [bytes, heardAt] = [socket.bytesRead, begunAt];
  let timer = clock.setTimeout(look, tickMs, { running: true });
  const stop = (): void => clock.clearTimeout(timer);
  // The connection alone tells of a request that is cut while it is read.
  socket.once('close', stop);
  request.once('end', () => {
    stop();
    socket.off('close', stop);
  });
  if (response.writableFinished) answered();
  else response.once('finish', answered);

  function answered(): void {
    stop();
    if (!request.complete && !socket.destroyed) timer = clock.setTimeout(() => socket.destroy(), restMs);
  }

  function look(): void {
    if (request.complete || socket.destroyed) return;
    const now = clock.now();
    if (socket.bytesRead !== bytes || request.readableLength > 0) [bytes, heardAt] = [socket.bytesRead, now];
    if (now - heardAt < limits.silenceMs && now - begunAt < limits.wholeMs) {
      timer = clock.setTimeout(look, tickMs, { running: true });
      return;
    }
    if (response.headersSent) return void socket.destroy();
    gaveUp();
    response.writeHead(408, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
    response.end('The body that the request announces did not come in time.\n', () => socket.destroy());
  }
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
