import type { McpAnswer, McpId, McpParams } from '../../src/protocol/mcp/message.ts';

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

  /** Tells whether a client has begun. */
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
