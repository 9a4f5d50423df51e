/** A connection of `fetch`, as far as it is kept. */
export interface KeptConnection {
  readonly destroyed: boolean;
  /** Protocol that was agreed on over TLS. */
  readonly alpnProtocol?: string | false | null | undefined;
  destroy(error?: Error): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Sender of the last request over each connection, among those who let go of theirs. */
const users = new WeakMap<object, KeptConnections>();
/** Connections whose end is heard. */
const heard = new WeakSet<object>();

/**
 * The connections that one part of a gateway has sent its requests over. `fetch` keeps them for the next request, as long as the server lets it, in a pool of the whole
 * process: what is closed here are those whose last request was of this part; one that the host has used since is the host's.
 */
export class KeptConnections {
  /** Number of requests of this part that are under way over each. */
  readonly #own = new Map<KeptConnection, number>();
  readonly #closing = new WeakSet<object>();

  /** A request goes over a connection. @param by - undefined for one of somebody else's. */
  static used(connection: KeptConnection, by: KeptConnections | undefined): void {
    // HTTP/2, which a dispatcher of the host may speak: requests of others are under way over it at the same time.
    if (connection.alpnProtocol === 'h2') return;
    const before = users.get(connection);
    if (before !== by) before?.forget(connection);
    if (by === undefined) {
      users.delete(connection);
      return;
    }
    users.set(connection, by);
    by.#own.set(connection, (by.#own.get(connection) ?? 0) + 1);
    // Heard once, however often its users take turns.
    if (heard.has(connection)) return;
    heard.add(connection);
    connection.once('close', () => users.get(connection)?.forget(connection));
  }

  /** A request of this part is over. */
  freed(connection: KeptConnection): void {
    const open = this.#own.get(connection);
    if (open === undefined) return;
    this.#own.set(connection, open - 1);
    if (!this.#closing.has(connection)) return;
    // undici still has its own end of the request to do.
    setImmediate(() => {
      if (this.#own.get(connection) === 0) connection.destroy();
    });
  }

  /** A connection has been closed, or is used by another. */
  forget(connection: KeptConnection): void {
    this.#own.delete(connection);
  }

  /** Closes those that are idle now, and each other one with the end of its request. */
  close(): void {
    for (const [connection, open] of this.#own) {
      if (open > 0) this.#closing.add(connection);
      else connection.destroy();
    }
  }
}
