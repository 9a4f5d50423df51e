import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../policy/clock.ts';

/** For how long a connection that is turned away may take to read why, in ms. */
const lingerMs = 1000;

/**
 * Keeps the open connections of a server at a number. One more is answered with 503 before it asks, and idle ones are let go for the next. Of
 * connections that are turned away as many may be open; what comes beyond is cut.
 */
export class ConnectionLimit {
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
