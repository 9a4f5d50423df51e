import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** When a connection is cut: as the server is about to be told to commit, or when it has, before the client hears of it. */
export type Cut = 'before_commit' | 'after_commit';

/** A way to a server that can be cut. */
export interface PostgresProxy {
  readonly port: number;
  /** Cuts the next connection that commits, once. */
  cut(when: Cut): void;
  /** How often it was cut. */
  readonly cuts: number;
  /** Ends the connections that there are. */
  sever(): void;
  /** Lets nothing through any more, of connections that are made meanwhile too, and says so to nobody. */
  hold(direction: 'to_server' | 'to_client' | 'both'): void;
  /** Lets all through again, what was held first. */
  pass(): void;
}

const commit = Buffer.from('COMMIT\0');

/** Starts a proxy in front of a server on this machine; it ends with the test. */
export async function startPostgresProxy(serverPort: number): Promise<PostgresProxy> {
  let next: Cut | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  let isHeld = { to_server: false, to_client: false };
  const held: (() => void)[] = [];
  const send = (direction: 'to_server' | 'to_client', socket: Socket, data: Buffer): void => {
    if (isHeld[direction]) held.push(() => socket.destroyed || socket.write(data));
    else socket.write(data);
  };
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    let isCommitting = false;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => {
      const commits = data.includes(commit);
      if (commits && next === 'before_commit') {
        next = undefined;
        cuts++;
        end();
        return;
      }
      if (commits && next === 'after_commit') {
        next = undefined;
        isCommitting = true;
      }
      send('to_server', upstream, data);
    });
    upstream.on('data', (data) => {
      if (!isCommitting) send('to_client', client, data);
      else if (data.includes(commit)) {
        cuts++;
        end();
      }
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut(when) {
      next = when;
    },
    get cuts() {
      return cuts;
    },
    sever() {
      for (const socket of sockets) socket.destroy();
    },
    hold(direction) {
      isHeld = { to_server: direction !== 'to_client', to_client: direction !== 'to_server' };
    },
    pass() {
      isHeld = { to_server: false, to_client: false };
      for (const go of held.splice(0)) go();
    },
  };
}
