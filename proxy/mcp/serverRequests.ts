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
import type { Elicitations } from './elicitations.ts';
import type { Line } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';

/** A request of the server that the client has not answered. */
interface Open {
  /** As the client knows it. */
  readonly clientId: McpId;
  /** As the server knows it. */
  readonly serverId: McpId;
  readonly method: string;
  readonly params: McpParams;
  /** Monotonic, in ms. */
  readonly at: number;
  /** Ends the wait for people. */
  readonly over: AbortController;
  /** The client owes its answer. */
  isShown: boolean;
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
  readonly #elicitations: Pick<Elicitations, 'takes' | 'ask'> | undefined;
  /** By the client's id. */
  readonly #open = new Map<string, Open>();
  /** The client's id by the server's, where they differ. */
  readonly #renamed = new Map<string, string>();
  readonly #stale = new Set<string>();

  constructor(scope: Pick<ProxyScope, 'clock' | 'nextId'>, elicitations?: Pick<Elicitations, 'takes' | 'ask'>) {
    this.#scope = scope;
    this.#elicitations = elicitations;
  }

  /** The server asks. @returns the line for the client; undefined where it is none of the client's. */
  asked({ id, key, method, params }: McpRequest, line: Uint8Array, text: string): Line | undefined {
    const isTaken = this.#open.has(key) || this.#stale.has(key);
    const clientId = isTaken ? this.#scope.nextId() : id;
    const clientKey = isTaken ? `s${clientId}` : key;
    const at = this.#scope.clock.now();
    const isShown = this.#elicitations?.takes(method, at) !== true;
    const open = { clientId, serverId: id, method, params, at, over: new AbortController(), isShown };
    this.#open.set(clientKey, open);
    if (isTaken) this.#renamed.set(key, clientKey);
    if (!isShown) {
      this.#askPeople(clientKey, open);
      return undefined;
    }
    if (!isTaken) return line;
    return withId(text, clientId);
  }

  /** The client answers. @returns the line for the server; undefined when the one that asked does not wait for it any more. */
  answered(answer: McpAnswer, line: Uint8Array, text: string): Line | undefined {
    const { key } = answer;
    const open = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || open?.isShown !== true) {
      if (key !== undefined) this.#stale.delete(key);
      return undefined;
    }
    if (this.#elicitations?.takes(open.method, open.at, answer) === true) {
      open.isShown = false;
      this.#askPeople(key, open);
      return undefined;
    }
    this.#forget(key, open);
    return open.clientId === open.serverId ? line : withId(text, open.serverId);
  }

  /** The server waits for an answer no longer (`notifications/cancelled`). @returns the line for the client; undefined where it knows of none. */
  cancelled({ requestId }: McpParams, line: Uint8Array, text: string): Line | undefined {
    const serverKey = idKey(requestId) ?? '';
    const clientKey = this.#renamed.get(serverKey) ?? serverKey;
    const open = this.#open.get(clientKey);
    if (open === undefined) return line;
    this.#outlive(clientKey, open);
    if (!open.isShown) return undefined;
    return open.clientId === open.serverId ? line : withRequestId(text, open.clientId);
  }

  /** The server is gone. @returns the ids of what the client need not answer any more. */
  lost(): readonly McpId[] {
    const ids = [...this.#open.values()].flatMap(({ clientId, isShown }) => (isShown ? [clientId] : []));
    for (const [key, open] of [...this.#open]) this.#outlive(key, open);
    return ids;
  }

  /** True while the server waits for the client, which is no silence of its own. */
  get isWaiting(): boolean {
    if (this.#open.size === 0) return false;
    const now = this.#scope.clock.now();
    for (const { method, at } of this.#open.values()) if (asksPeople(method) || now - at < excuseMs) return true;
    return false;
  }

  /** Nobody waits for the answers of people any more: the client is gone. */
  leave(): void {
    for (const { over } of this.#open.values()) over.abort();
  }

  #askPeople(key: string, open: Open): void {
    void this.#elicitations?.ask(open, () => {
      if (this.#open.get(key) === open) this.#forget(key, open);
    });
  }

  #outlive(key: string, open: Open): void {
    open.over.abort();
    this.#forget(key, open);
    if (!open.isShown) return;
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
