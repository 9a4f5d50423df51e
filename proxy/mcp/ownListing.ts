import { fieldsOf } from '../../src/protocol/mcp/face.ts';
import { pageOf } from '../wire/listRecord.ts';
import type { SessionRecord } from '../wire/sessionRecord.ts';
import type { Wire } from './wire.ts';

const method = 'tools/list';
/** Pages that are asked for; a server has one, seldom more. */
const mostOwnPages = 20;

/**
 * The list of tools that the proxy asks a server for by itself, once each process: a client that calls a tool without having listed them has
 * heard nothing of their annotations, nor has the proxy then, and a call that changes nothing would be lost with its server.
 */
export class OwnListing {
  readonly #record: SessionRecord;
  #asked: Wire | undefined = undefined;
  #isUnderWay = false;
  #learning: Promise<void> | undefined = undefined;

  constructor(record: SessionRecord) {
    this.#record = record;
  }

  /** True while a list was asked for that is not there yet. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** A call of a tool is about to go to this server: what is asked now is answered first, and delays nobody. */
  beforeCall(wire: Wire, isKnown: boolean): void {
    const record = this.#record;
    if (this.#asked === wire || (isKnown && this.#asked === undefined)) return;
    if (!record.established || record.lists.methods.includes(method) || !this.#hasTools()) return;
    this.#asked = wire;
    this.#learning = this.#learn(wire);
  }

  /** Resolves once this server has told of its tools, or will not; it is asked now where it was not yet. Never rejects. */
  heardFrom(wire: Wire): Promise<void> {
    this.beforeCall(wire, false);
    return (this.#asked === wire ? this.#learning : undefined) ?? Promise.resolve();
  }

  #hasTools(): boolean {
    const { handshake } = this.#record;
    return handshake === undefined || fieldsOf(handshake['capabilities'])['tools'] !== undefined;
  }

  /** Never rejects: without a list the calls stay of unknown effect. */
  async #learn(wire: Wire): Promise<void> {
    const record = this.#record;
    this.#isUnderWay = true;
    let cursor: string | undefined;
    try {
      for (let page = 0; page < mostOwnPages; page++) {
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
