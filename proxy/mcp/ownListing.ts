import { fieldsOf } from '../../src/protocol/mcp/message.ts';
import { pageOf } from '../../src/protocol/mcp/listRecord.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Wire } from './wire.ts';

const method = 'tools/list';
/** Pages that are asked for; a server has one, seldom more. */
const mostPages = 20;

/**
 * The list of tools that the proxy asks a server for by itself, once each process: a client that calls a tool without having listed them has
 * heard nothing of their annotations, nor has the proxy then, and a call that changes nothing would be lost with its server.
 */
export class OwnListing {
  readonly #scope: ProxyScope;
  #asked: Wire | undefined = undefined;
  #isUnderWay = false;

  constructor(scope: ProxyScope) {
    this.#scope = scope;
  }

  /** True while a list was asked for that is not there yet. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** A call of a tool is about to go to this server: what is asked now is answered first, and delays nobody. */
  beforeCall(wire: Wire, isKnown: boolean): void {
    const { record } = this.#scope;
    if (this.#asked === wire || (isKnown && this.#asked === undefined)) return;
    if (!record.established || record.lists.methods.includes(method) || !this.#hasTools()) return;
    this.#asked = wire;
    void this.#learn(wire);
  }

  #hasTools(): boolean {
    const { handshake } = this.#scope.record;
    return handshake === undefined || fieldsOf(handshake['capabilities'])['tools'] !== undefined;
  }

  /** Never rejects: without a list the calls stay of unknown effect. */
  async #learn(wire: Wire): Promise<void> {
    const { record } = this.#scope;
    this.#isUnderWay = true;
    let cursor: string | undefined;
    try {
      for (let page = 0; page < mostPages; page++) {
        const place = cursor === undefined ? {} : { cursor };
        const result = await wire.request(method, { ...record.requestParams, ...place });
        // The client may have listed them meanwhile.
        if (record.lists.methods.includes(method)) break;
        record.tools.learn(place, result);
        cursor = pageOf(method, result).next;
        if (cursor === undefined) break;
      }
    } catch {
      // It refused, or was lost.
    }
    if (this.#asked === wire) this.#isUnderWay = false;
  }
}
