import { connect, createServer, type Server, type Socket } from 'node:net';
import { listen } from './loopback.ts';

/**
 * A TCP relay on a free port of 127.0.0.1 in front of a server of this process. Connections can be cut, or become a black hole: half-open,
 * as behind a firewall that drops all packets.
 */
export class TcpFront {
  #server: Server | undefined;
  readonly #pairs = new Map<Socket, Socket | undefined>();
  /** Sockets that their client has ended are not closed before we do. */
  readonly #fronts = new Set<Socket>();
  readonly #backPort: number;
  readonly #changed: () => void;
  #port = 0;
  #isHole = false;

  /** @param changed - called when a connection begins or ends. */
  constructor(backPort: number, changed: () => void) {
    this.#backPort = backPort;
    this.#changed = changed;
  }

  get port(): number {
    return this.#port;
  }

  /** Connections that the client has not ended. */
  get open(): number {
    return this.#pairs.size;
  }

  /** Listens, after the first time on the same port. */
  async listen(): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#port = await listen(server, this.#port);
    this.#server = server;
  }

  /** Refuses connections from now on; those there are get reset. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.reset();
    if (server !== undefined) await new Promise((resolve) => server.close(resolve));
  }

  reset(): void {
    for (const [front, back] of this.#pairs) {
      back?.destroy();
      this.#forget(front);
      front.resetAndDestroy();
    }
    for (const front of this.#fronts) front.destroy();
  }

  blackHole(): void {
    this.#isHole = true;
  }

  /** Ends the connections of what fell into the hole, as that is lost. */
  heal(): void {
    this.#isHole = false;
    this.reset();
  }

  #accept(front: Socket): void {
    this.#pairs.set(front, undefined);
    this.#fronts.add(front);
    this.#changed();
    front.on('error', () => undefined);
    front.on('close', () => this.#fronts.delete(front));
    front.on('end', () => this.#forget(front));
    front.on('close', () => this.#forget(front));
    if (this.#isHole) front.resume();
    else this.#join(front, connect({ port: this.#backPort, host: '127.0.0.1', allowHalfOpen: true }));
  }

  #join(front: Socket, back: Socket): void {
    this.#pairs.set(front, back);
    this.#pass(front, back);
    this.#pass(back, front);
    back.on('error', () => {
      if (!this.#isHole) front.resetAndDestroy();
    });
  }

  #pass(from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      if (this.#isHole || to.destroyed) return;
      if (to.write(chunk)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    from.on('end', () => {
      if (!this.#isHole) to.end();
    });
    from.on('close', () => {
      if (!this.#isHole) to.end();
    });
  }

  #forget(front: Socket): void {
    if (this.#pairs.delete(front)) this.#changed();
  }
}
