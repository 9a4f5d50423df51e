import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../src/policy/face.ts';
import { type AccessRules, refusalOf } from './access.ts';
import { type BodyLimits, watchBody } from './bodyWatch.ts';

export interface HttpServerOptions extends Pick<AccessRules, 'token' | 'isLinked'> {
  readonly clock: Clock;
  /**
   * The address to listen on. Beyond the loopback one a request may name its host as it likes: where the network brings it from is not known, so a
   * token has to keep strangers out. @defaultValue '127.0.0.1'
   */
  readonly host?: string | undefined;
  /** @defaultValue 0, a free one */
  readonly port?: number | undefined;
  /** Answers a request that may be answered; what it throws or rejects with ends the connection. */
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
  /** Told the status of a request that was not answered by `answer`. @defaultValue nobody is told */
  readonly refused?: ((status: number) => void) | undefined;
  /** Takes over a connection that is to become another (WebSocket); as `answer`. @defaultValue such a request is answered as any other */
  readonly upgrade?: ((request: IncomingMessage, socket: Duplex, head: Buffer) => void | Promise<void>) | undefined;
  /** Keeps the process alive. @defaultValue false */
  readonly holdsProcess?: boolean | undefined;
  /** Time that a body may take. @defaultValue silent for 10 s, a minute as a whole */
  readonly body?: Partial<BodyLimits> | undefined;
  /** Time that a client may take for the head of a request, in ms; up to half more. @defaultValue 10,000 */
  readonly headersMs?: number | undefined;
  /** Connections that may be open; one more gets 503. @defaultValue 1000 */
  readonly maxConnections?: number | undefined;
}

export interface HttpServer {
  readonly port: number;
  /** `http://127.0.0.1:PORT`, or with the host that it listens on. */
  readonly origin: string;
  /**
   * Stops listening and lets every connection go. Later calls join the first. Never rejects.
   * @param lingerMs - how long what is being answered may take to end by itself, in ms. @defaultValue 0
   */
  close(lingerMs?: number): Promise<void>;
}

/** Above the 60 s after which clients and balancers close an idle connection: the side that sends next should not find it closed. */
const keepAliveMs = 70_000;
const loopback = '127.0.0.1';
const usualBody: BodyLimits = { silenceMs: 10_000, wholeMs: 60_000 };

/**
 * Listens, on the loopback address unless told otherwise, and answers who may ask: a request under another name or from another site gets 403, one without the
 * token 403 where the token is in the address, 401 where it is in a header, and one that is none for a server 400 or 405. Each is told why.
 * @throws Error when the port cannot be had.
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { clock, host = loopback, token, isLinked, answer, refused, upgrade, holdsProcess = false } = options;
  const { headersMs = 10_000, maxConnections = 1000 } = options;
  const body = { ...usualBody, ...options.body };
  const rules = { port: 0, token, isLinked, anyHost: host !== loopback };
  const upgraded = new Set<Duplex>();
  let closing: Promise<void> | undefined;

  // Node limits a request as a whole alone; a body has limits of its own here, which its reader may stretch.
  const limits = { requestTimeout: 0, headersTimeout: headersMs, connectionsCheckingInterval: headersMs / 2 };
  const server = createServer({ keepAliveTimeout: keepAliveMs, noDelay: true, ...limits }, (request, response) => {
    if (connections.hasTurnedAway(request.socket)) return;
    watchBody(request, response, body, clock, () => refused?.(408));
    const refusal = refusalOf(request, rules);
    if (refusal !== undefined) {
      const { status, reason } = refusal;
      sendText(response, codeOf(status), reason, status.startsWith('401') ? { 'WWW-Authenticate': 'Bearer' } : {});
      refused?.(response.statusCode);
    } else
      guarded(
        () => answer(request, response),
        () => response.destroy(),
      );
  });

  const connections = new ConnectionLimit(server, maxConnections, clock, () => refused?.(503));

  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      if (connections.hasTurnedAway(socket)) return;
      const refusal = refusalOf(request, rules);
      if (refusal !== undefined) return endUpgrade(socket, refusal.status, [], refusal.reason);
      upgraded.add(socket);
      socket.once('close', () => upgraded.delete(socket));
      guarded(
        () => upgrade(request, socket, head),
        () => socket.destroy(),
      );
    });
  }
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    socket.on('error', () => socket.destroy());
    if (connections.hasTurnedAway(socket)) return;
    const refusal = refusalOf(request, rules);
    if (refusal === undefined) return void socket.destroy();
    endUpgrade(socket, refusal.status, [], refusal.reason);
    refused?.(codeOf(refusal.status));
  });
  server.on('connection', (socket: Socket) => {
    if (!holdsProcess) socket.unref();
  });

  rules.port = await listen(server, host, options.port ?? 0);
  if (!holdsProcess) server.unref();

  return {
    port: rules.port,
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${rules.port}`,
    close(lingerMs = 0) {
      closing ??= new Promise((resolve) => {
        const timer = lingerMs > 0 ? clock.setTimeout(dismiss, lingerMs) : undefined;
        server.close(() => {
          clock.clearTimeout(timer);
          resolve();
        });
        server.closeIdleConnections();
        if (timer === undefined) dismiss();
      });
      return closing;
    },
  };

  function dismiss(): void {
    for (const socket of upgraded) socket.destroy();
    server.closeAllConnections();
  }
}

/** The end of a request that an upgrade was asked for, without one. @param text - why. */
export function endUpgrade(socket: Duplex, status: string, headers: readonly string[] = [], text = ''): void {
  const body = text === '' ? '' : `${text}\n`;
  const type = text === '' ? [] : ['Content-Type: text/plain; charset=utf-8'];
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  // Half of the connection would stay open for as long as the other side likes, and with it the server.
  socket.once('finish', () => socket.destroy());
  socket.end([`HTTP/1.1 ${status}`, ...headers, ...type, 'Connection: close', length, '', body].join('\r\n'));
}

const codeOf = (status: string): number => Number(status.slice(0, 3));

/** Answers with a line for people, and lets the connection go. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const type = { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' };
  response.writeHead(status, { ...noTrace, ...headers, ...type }).end(`${text}\n`);
}

/** Headers of answers that neither a cache nor another site is to see. */
export const noTrace = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Nothing that a request does may end the server. */
function guarded(work: () => void | Promise<void>, failed: () => void): void {
  try {
    const done = work();
    if (done !== undefined) done.catch(failed);
  } catch {
    failed();
  }
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', reject);
      // A later fault of a listener, such as too many open files, is no reason to end the process.
      server.on('error', () => undefined);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** For how long a connection that is turned away may take to read why, in ms. */
const lingerMs = 1000;

/**
 * Keeps the open connections of a server at a number. One more is answered with 503 before it asks, and idle ones are let go for the next. Of
 * connections that are turned away as many may be open; what comes beyond is cut.
 */
class ConnectionLimit {
  readonly #server: Server;
  readonly #most: number;
  readonly #clock: Clock;
  readonly #turnedAway = new WeakSet<object>();
  #open = 0;

  /** @param most - connections that may be open. @param refused - told of each that is turned away. */
  constructor(server: Server, most: number, clock: Clock, refused: () => void) {
    this.#server = server;
    this.#most = most;
    this.#clock = clock;
    server.maxConnections = 2 * most;
    server.on('connection', (socket: Socket) => {
      if (this.#open >= this.#most) {
        this.#turnAway(socket);
        refused();
        return;
      }
      this.#open += 1;
      socket.once('close', () => {
        this.#open -= 1;
      });
    });
  }

  /** Tells whether the connection has its answer already, whatever it asks. */
  hasTurnedAway(socket: object): boolean {
    return this.#turnedAway.has(socket);
  }

  #turnAway(socket: Socket): void {
    this.#turnedAway.add(socket);
    this.#server.closeIdleConnections();
    const timer = this.#clock.setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => this.#clock.clearTimeout(timer));
    socket.on('error', () => socket.destroy());
    const body = `${this.#most} connections are open already.\n`;
    const head = ['HTTP/1.1 503 Service Unavailable', 'Retry-After: 1', 'Connection: close'];
    const type = 'Content-Type: text/plain; charset=utf-8';
    socket.end([...head, type, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n'));
  }
}
