import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/**
 * When a connection is cut: as the server is about to be told to commit, when it has, before the client hears of it, or before it is told; then what
 * was said is kept until {@link PostgresProxy.late}.
 */
export type Cut = 'before_commit' | 'after_commit' | 'on_the_way';

/** A way to a server that can be cut. */
export interface PostgresProxy {
  readonly port: number;
  /** Cuts the next connection that commits, once. @param by - the prepared statement that is a transaction by itself. @defaultValue `COMMIT` */
  cut(when: Cut, by?: string): void;
  /** How often it was cut. */
  readonly cuts: number;
  /** How often the server was told to commit by `COMMIT`. */
  readonly commits: number;
  /** Tells the server what was kept, and waits for its answer. */
  late(): Promise<void>;
  /** Ends the connections that there are. */
  sever(): void;
  /** Lets nothing through any more, of connections that are made meanwhile too, and says so to nobody. */
  hold(direction: 'to_server' | 'to_client' | 'both'): void;
  /** Lets all through again, what was held first. */
  pass(): void;
}

const commit = 'COMMIT\0';
/** What stands before the text of a simple query: its kind and its length. */
const head = 5;

/** Starts a proxy in front of a server on this machine; it ends with the test. */
export async function startPostgresProxy(serverPort: number): Promise<PostgresProxy> {
  let next: { readonly when: Cut; readonly by: string } | undefined;
  let late: (() => Promise<void>) | undefined;
  let cuts = 0;
  let commits = 0;
  const sockets = new Set<Socket>();
  let isHeld = { to_server: false, to_client: false };
  const held: (() => void)[] = [];
  const send = (direction: 'to_server' | 'to_client', socket: Socket, data: Buffer): void => {
    if (isHeld[direction]) held.push(() => socket.destroyed || socket.write(data));
    else socket.write(data);
  };
  const server = createServer((client) => {
    const upstream = connect(serverPort, '127.0.0.1');
    let awaited: string | undefined;
    let isKept = false;
    const end = (): void => {
      client.destroy();
      if (!isKept) upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }
    client.on('data', (data) => {
      if (data.includes(commit)) commits++;
      if (next === undefined || !data.includes(next.by)) {
        send('to_server', upstream, data);
        return;
      }
      const { when, by } = next;
      next = undefined;
      if (when === 'after_commit') {
        // A statement that is a transaction by itself answers with no row.
        awaited = by === commit ? commit : 'SELECT 0\0';
        send('to_server', upstream, data);
        return;
      }
      cuts++;
      isKept = true;
      client.destroy();
      if (when === 'on_the_way') late = () => said(upstream, data);
      // What came before was said: the server has all of it but for the last word.
      else upstream.end(by === commit ? data.subarray(0, data.indexOf(commit) - head) : '');
    });
    upstream.on('data', (data) => {
      if (awaited === undefined) send('to_client', client, data);
      else if (data.includes(awaited)) {
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
    cut(when, by) {
      next = { when, by: by === undefined ? commit : `${by}\0` };
    },
    get cuts() {
      return cuts;
    },
    get commits() {
      return commits;
    },
    async late() {
      await late?.();
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

function said(server: Socket, data: Buffer): Promise<void> {
  return new Promise((resolve) => {
    server.once('data', () => resolve());
    server.write(data);
  });
}
