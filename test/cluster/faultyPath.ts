import { connect, createServer, type Server, type Socket, type AddressInfo } from 'node:net';

/**
 * What goes wrong between a node and its database: nothing passes and no connection ends (`hole`); what the server answers is lost
 * (`deaf`), or what the node says (`mute`); a connection that gives a session back stands still from then on (`release`).
 */
export type PathFault = 'hole' | 'deaf' | 'mute' | 'release';

const releases = [Buffer.from('release_lease'), Buffer.from('release_all')];

/** The way of one node to its database. */
export class FaultyPath {
  readonly #server: Server;
  readonly #serverPort: number;
  readonly #pairs = new Set<Pair>();
  #fault: PathFault | undefined = undefined;

  private constructor(serverPort: number) {
    this.#serverPort = serverPort;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async open(serverPort: number): Promise<FaultyPath> {
    const path = new FaultyPath(serverPort);
    await new Promise<void>((resolve) => {
      path.#server.listen(0, '127.0.0.1', resolve);
    });
    return path;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** From now on, also for connections that are made meanwhile. */
  begin(fault: PathFault): void {
    this.#fault = fault;
  }

  /** What was lost stays lost: the connections that lost something are reset. */
  heal(): void {
    this.#fault = undefined;
    for (const pair of this.#pairs) if (pair.isTorn) pair.end();
  }

  close(): void {
    this.#server.close();
    for (const pair of this.#pairs) pair.end();
  }

  #accept(client: Socket): void {
    const upstream = connect(this.#serverPort, '127.0.0.1');
    const pair: Pair = {
      isTorn: false,
      end: () => {
        client.destroy();
        upstream.destroy();
        this.#pairs.delete(pair);
      },
    };
    this.#pairs.add(pair);
    for (const socket of [client, upstream]) {
      socket.on('error', () => this.#ended(pair));
      socket.on('close', () => this.#ended(pair));
    }
    client.on('data', (data) => {
      if (this.#fault === 'release' && releases.some((text) => data.includes(text))) pair.isTorn = true;
      if (this.#loses(pair, ['hole', 'mute'])) return;
      upstream.write(data);
    });
    upstream.on('data', (data) => {
      if (this.#loses(pair, ['hole', 'deaf'])) return;
      client.write(data);
    });
  }

  #loses(pair: Pair, faults: readonly PathFault[]): boolean {
    if (this.#fault !== undefined && faults.includes(this.#fault)) pair.isTorn = true;
    // Of a connection that lost something nothing passes any more in that direction; of one that hangs, nothing at all.
    return pair.isTorn && (this.#fault === undefined || this.#fault === 'release' || faults.includes(this.#fault));
  }

  /** In a hole nobody hears that the other side has gone. */
  #ended(pair: Pair): void {
    if (pair.isTorn && this.#fault !== undefined) return;
    pair.end();
  }
}

interface Pair {
  isTorn: boolean;
  readonly end: () => void;
}
