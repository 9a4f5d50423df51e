import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createGateway, type Gateway, type GatewayOptions } from '../../../src/index.ts';
import { SimulatedClock } from '../../../testing/index.ts';

/** A server on loopback, and what it has seen. */
export interface HttpServer {
  readonly url: string;
  /** Requests so far. */
  readonly received: readonly IncomingMessage[];
  /** Connections that are open as the server sees it. */
  readonly open: ReadonlySet<Socket>;
  /** Resolves with the answer to the n-th request once it has come, from 1. */
  arrived(count: number): Promise<ServerResponse>;
}

/** Ends with the test. */
export async function startServer(listener: RequestListener): Promise<HttpServer> {
  const received: IncomingMessage[] = [];
  const answers: ServerResponse[] = [];
  const open = new Set<Socket>();
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    received.push(request);
    answers.push(response);
    listener(request, response);
    for (const look of waiting) look();
  });
  // Told to clients, who keep a connection as long: within a test only they can end one.
  server.keepAliveTimeout = 600_000;
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    open,
    arrived: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          const answer = answers[count - 1];
          if (answer === undefined) return;
          waiting.delete(look);
          resolve(answer);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Answers one after the other, the last for all that follow. */
export function inTurn(
  ...answers: readonly ((response: ServerResponse, request: IncomingMessage) => void)[]
): RequestListener {
  let count = 0;
  return (request, response) => {
    request.resume();
    const answer = answers[Math.min(count++, answers.length - 1)];
    answer?.(response, request);
  };
}

/** An answer with these. */
export const answer =
  (status: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** A started gateway whose time moves when the test says so. Ends with the test. */
export async function startGateway(
  declare: (gateway: Gateway) => void,
  options: GatewayOptions = {},
): Promise<{ readonly gateway: Gateway; readonly clock: SimulatedClock }> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, ...options });
  onTestFinished(async () => {
    const stopped = gateway.stop();
    await clock.advance(60_000);
    await stopped;
  });
  declare(gateway);
  await gateway.start();
  return { gateway, clock };
}

/** The global `fetch`, and how many chunks of bodies have been read of it. */
export function countingFetch(): { readonly fetch: typeof fetch; readonly chunks: () => number } {
  let chunks = 0;
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    const counter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        chunks++;
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(counter) ?? null, response);
  };
  return { fetch: counting, chunks: () => chunks };
}
