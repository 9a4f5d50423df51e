import type { McpAnswer, McpId, McpParams, McpRequest } from '../../src/protocol/mcp/face.ts';

/** From the least to the most serious. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** News that each client of a shared server wants to hear without asking: resources it has subscribed to, and how much of the log. */
export class SharedSubscriptions<C> {
  readonly #byUri = new Map<string, Set<C>>();
  readonly #levels = new Map<C, number>();

  /**
   * A client asks for more or less of it.
   * @returns the params that the server is asked with instead, or `answered` when it need not be asked; undefined for any other request.
   */
  take(client: C, { method, params }: Pick<McpRequest, 'method' | 'params'>): McpParams | 'answered' | undefined {
    const { uri, level } = params;
    if (method === 'resources/unsubscribe' && typeof uri === 'string') {
      this.#drop(client, uri);
      return this.#byUri.has(uri) ? 'answered' : undefined;
    }
    const rank = levels.indexOf(String(level));
    if (method !== 'logging/setLevel' || rank < 0) return undefined;
    this.#levels.set(client, rank);
    // The one who wants the most; the others are not told of it.
    return { level: levels[Math.min(...this.#levels.values())] };
  }

  /** The server has said yes. */
  answered(client: C, { method, params: { uri } }: Pick<McpRequest, 'method' | 'params'>): void {
    if (method !== 'resources/subscribe' || typeof uri !== 'string') return;
    const readers = this.#byUri.get(uri) ?? new Set();
    this.#byUri.set(uri, readers.add(client));
  }

  /** Finds those who have subscribed to a resource, or to one that it is a part of. */
  readersOf(uri: unknown): Iterable<C> {
    const readers = new Set<C>();
    for (const [each, clients] of this.#byUri) {
      if (typeof uri === 'string' && uri.startsWith(each)) for (const client of clients) readers.add(client);
    }
    return readers;
  }

  /** Tells whether a client wants a message of this level: one that never said how much wants all. */
  logs(client: C, level: unknown): boolean {
    return levels.indexOf(String(level)) >= (this.#levels.get(client) ?? 0);
  }

  /** @returns the resources that nobody is subscribed to any more. */
  leave(client: C): readonly string[] {
    this.#levels.delete(client);
    const left: string[] = [];
    for (const [uri, readers] of [...this.#byUri]) {
      if (!readers.has(client)) continue;
      this.#drop(client, uri);
      if (!this.#byUri.has(uri)) left.push(uri);
    }
    return left;
  }

  #drop(client: C, uri: string): void {
    const readers = this.#byUri.get(uri);
    readers?.delete(client);
    if (readers?.size === 0) this.#byUri.delete(uri);
  }
}

const handshakeId = 'client-0';

/** The one handshake that the clients of a shared server have in common. */
export class SharedHandshake<C> {
  readonly #version: string;
  readonly #members = new Set<C>();
  #waiting: { readonly client: C; readonly id: McpId }[] = [];
  #result: McpParams | undefined = undefined;

  /** @param version - ours, for the server. */
  constructor(version: string) {
    this.#version = version;
  }

  /**
   * A client begins.
   * @returns the answer it gets, or what the server is asked; undefined when it waits for an answer that is on its way.
   */
  join(client: C, id: McpId, { protocolVersion }: McpParams) {
    this.#members.add(client);
    if (this.#result !== undefined) return { result: this.#result };
    this.#waiting.push({ client, id });
    if (this.#waiting.length > 1) return undefined;
    // An ability of one of them is none of the others', and no answer says for whom it is meant.
    const clientInfo = { name: 'unwedge', version: this.#version };
    return { id: handshakeId, params: { protocolVersion, capabilities: {}, clientInfo } };
  }

  has(client: C): boolean {
    return this.#members.has(client);
  }

  isAnswer(key: string | undefined): boolean {
    return key === `s${handshakeId}`;
  }

  /** @returns who gets the answer, and whether the server may be told that they are ready. */
  answered({ result }: McpAnswer) {
    const isFirst = this.#result === undefined;
    this.#result = result;
    return { waiting: this.#waiting.splice(0), initialized: isFirst && result !== undefined };
  }

  leave(client: C): void {
    this.#members.delete(client);
  }

  /** The server has ended; the next one is greeted anew. */
  forget(): void {
    this.#result = undefined;
    this.#waiting = [];
  }
}
