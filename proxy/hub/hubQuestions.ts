import {
  type McpId,
  type McpParams,
  type McpRequest,
  fieldsOf,
  idKey,
  subscriptionField,
} from '../../src/protocol/mcp/face.ts';
import type { HubMember } from './hubMember.ts';

interface Asked {
  readonly member: HubMember;
  /** As the server knows it. */
  readonly id: McpId;
  readonly key: string;
}

/** A subscription of the stateless era. */
interface Listen {
  readonly request: McpRequest;
  /** As the client wrote it. */
  readonly text: string;
  readonly members: Set<HubMember>;
  acknowledged: boolean;
}

/** Questions of servers that the client has not answered; of more the oldest are forgotten. */
const mostAsked = 1000;

/** Questions of servers to the client, and what the client listens to: requests of which there are several of one id. */
export class HubQuestions {
  /** By the id that the client knows. */
  readonly #asked = new Map<string, Asked>();
  /** By the id of the client's request: the servers that have not ended it, and whether one has said that it stands. */
  readonly #listens = new Map<string, Listen>();

  /** A server asks. @returns the id that the client gets. */
  asked(member: HubMember, { id, key }: McpRequest, clientId: string): string {
    this.#asked.set(`s${clientId}`, { member, id, key });
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= mostAsked) break;
      this.#asked.delete(oldest);
    }
    return clientId;
  }

  /** The client answers. @returns who asked, and under which id. */
  answered(clientKey: string): Asked | undefined {
    const asked = this.#asked.get(clientKey);
    this.#asked.delete(clientKey);
    return asked;
  }

  /** A server calls off what it asked, or a subscription. @returns the id that the client knows; undefined when it is not to hear of it. */
  withdrawn(member: HubMember, { requestId }: McpParams): McpId | undefined {
    const key = idKey(requestId) ?? '';
    for (const [clientKey, asked] of this.#asked) {
      if (asked.member !== member || asked.key !== key) continue;
      this.#asked.delete(clientKey);
      return clientKey.slice(1);
    }
    return this.isLastToListen(member, key) ? (requestId as McpId) : undefined;
  }

  listens(request: McpRequest, text: string, members: readonly HubMember[]): void {
    if (members.length === 0) return;
    this.#listens.set(request.key, { request, text, members: new Set(members), acknowledged: false });
  }

  get listening(): Iterable<Listen> {
    return this.#listens.values();
  }

  /** The client listens no longer. @returns who is to be told. */
  unlisten(key: string): Iterable<HubMember> {
    const members = this.#listens.get(key)?.members ?? [];
    this.#listens.delete(key);
    return members;
  }

  /** A server has ended its part of what the client listens to. @returns whether it was the last. */
  isLastToListen(member: HubMember, key: string): boolean {
    const members = this.#listens.get(key)?.members;
    if (members?.delete(member) !== true || members.size > 0) return false;
    return this.#listens.delete(key);
  }

  /** Tells whether the client may hear that it listens: once, however many servers say so. */
  isFirstAcknowledged(params: McpParams): boolean {
    const listen = this.#listens.get(idKey(fieldsOf(params['_meta'])[subscriptionField]) ?? '');
    if (listen === undefined || listen.acknowledged) return false;
    listen.acknowledged = true;
    return true;
  }
}
