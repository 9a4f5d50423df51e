import {
  type McpAnswer,
  type McpId,
  type McpParams,
  type McpRequest,
  idKey,
  withId,
} from '../../src/protocol/mcp/face.ts';
import { asksPeople } from '../wire/requestTraits.ts';
import { withRequestId } from '../wire/rewrite.ts';
import type { Line } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';

/** A request of the server that the client has not answered. */
interface Open {
  /** As the client knows it. */
  readonly clientId: McpId;
  /** As the server knows it. */
  readonly serverId: McpId;
  readonly method: string;
  /** Monotonic, in ms. */
  readonly at: number;
}

/** Requests of dead servers that the client may still answer; of more the oldest are forgotten. */
const mostStale = 1000;
/** Time that a request that no person answers excuses the silence of the server, in ms. */
const excuseMs = 60_000;

/**
 * Requests of the server to the client. A new server counts its ids from the start again: an answer to a dead one must not reach it, and the client must not
 * see one id twice.
 */
export class ServerRequests {
  readonly #scope: Pick<ProxyScope, 'clock' | 'nextId'>;
  /** By the client's id. */
  readonly #open = new Map<string, Open>();
  /** The client's id by the server's, where they differ. */
  readonly #renamed = new Map<string, string>();
  readonly #stale = new Set<string>();

  constructor(scope: Pick<ProxyScope, 'clock' | 'nextId'>) {
    this.#scope = scope;
  }

  /** The server asks. @returns the line for the client. */
  asked({ id, key, method }: McpRequest, line: Uint8Array, text: string): Line {
    const isTaken = this.#open.has(key) || this.#stale.has(key);
    const clientId = isTaken ? this.#scope.nextId() : id;
    const clientKey = isTaken ? `s${clientId}` : key;
    this.#open.set(clientKey, { clientId, serverId: id, method, at: this.#scope.clock.now() });
    if (!isTaken) return line;
    this.#renamed.set(key, clientKey);
    return withId(text, clientId);
  }

  /** The client answers. @returns the line for the server; undefined when the one that asked does not wait for it any more. */
  answered({ key }: McpAnswer, line: Uint8Array, text: string): Line | undefined {
    const open = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || open === undefined) {
      if (key !== undefined) this.#stale.delete(key);
      return undefined;
    }
    this.#forget(key, open);
    return open.clientId === open.serverId ? line : withId(text, open.serverId);
  }

  /** The server waits for an answer no longer (`notifications/cancelled`). @returns the line for the client. */
  cancelled({ requestId }: McpParams, line: Uint8Array, text: string): Line {
    const serverKey = idKey(requestId) ?? '';
    const clientKey = this.#renamed.get(serverKey) ?? serverKey;
    const open = this.#open.get(clientKey);
    if (open === undefined) return line;
    this.#outlive(clientKey, open);
    return open.clientId === open.serverId ? line : withRequestId(text, open.clientId);
  }

  /** The server is gone. @returns the ids of what the client need not answer any more. */
  lost(): readonly McpId[] {
    const ids = Array.from(this.#open.values(), ({ clientId }) => clientId);
    for (const [key, open] of [...this.#open]) this.#outlive(key, open);
    return ids;
  }

  /** True while the server waits for the client, which is no silence of its own. */
  get isWaiting(): boolean {
    const now = this.#scope.clock.now();
    for (const { method, at } of this.#open.values()) if (asksPeople(method) || now - at < excuseMs) return true;
    return false;
  }

  #outlive(key: string, open: Open): void {
    this.#forget(key, open);
    this.#stale.add(key);
    for (const oldest of this.#stale) {
      if (this.#stale.size <= mostStale) break;
      this.#stale.delete(oldest);
    }
  }

  #forget(key: string, open: Open): void {
    this.#open.delete(key);
    const serverKey = idKey(open.serverId) ?? '';
    if (this.#renamed.get(serverKey) === key) this.#renamed.delete(serverKey);
  }
}
