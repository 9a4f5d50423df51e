import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { isListMethod, pageOf } from '../wire/listRecord.ts';
import { type McpParams, type McpRequest, claimedVersion, fieldsOf } from '../../src/protocol/mcp/face.ts';
import {
  asOfRecord,
  clientIn,
  type HandshakeShelf,
  pageOnRecord,
  type RecordedHandshake,
} from '../wire/recordedHandshake.ts';
import type { SessionRecord } from '../wire/sessionRecord.ts';
import { listPages, type ReplayedHandshake } from './handshake.ts';
import type { Wire } from './wire.ts';

type Asked = Pick<McpRequest, 'method' | 'params'>;

/** Answer to a request from the record: a result, or the error of a server that does not know it. */
type AnswerOnRecord = { readonly result: McpParams } | { readonly error: McpParams };

interface HandshakeOnRecordOptions {
  readonly shelf: HandshakeShelf;
  readonly record: SessionRecord;
  /** Runs what can wait until the client has its answers. */
  readonly later: (work: () => void) => void;
  /** Failed starts in a row after which nobody believes the record any more. */
  readonly mostFailures: number;
}

/**
 * The handshake of an earlier proxy in this one: it answers the first requests of the client before there is a server, which is then held
 * against it; and what this server says is kept for the next proxy. It never answers a call.
 */
export class HandshakeOnRecord {
  readonly #options: HandshakeOnRecordOptions;
  /** By it the client was told something: the server has not confirmed it (`unproven`), or its lists are not compared yet (`proven`). */
  #state: 'unused' | 'unproven' | 'proven' | 'over' = 'unused';
  #told: RecordedHandshake | undefined = undefined;
  #client: string | undefined = undefined;
  #seen: { -readonly [K in keyof RecordedHandshake]: RecordedHandshake[K] } = { lists: {} };
  readonly #partial = new Map<string, McpParams[]>();
  /** Clients whose record was used, the one that asked for the era included. */
  readonly #used = new Set<string>();
  #failures = 0;
  #isPlanned = false;

  constructor(options: HandshakeOnRecordOptions) {
    this.#options = options;
  }

  /** True while the client was told of a handshake that no server has confirmed. */
  get isUnproven(): boolean {
    return this.#state === 'unproven';
  }

  /** True while lists are answered from the record: until they are compared with those of the server. */
  get isStanding(): boolean {
    return this.#state === 'unproven' || this.#state === 'proven';
  }

  /** The answer to a request; undefined where the server is to give it. @param isFresh - no server was asked anything that counts. */
  answerTo(request: Asked, isFresh: boolean): AnswerOnRecord | undefined {
    if (isListMethod(request.method)) return this.#listOnRecord(request, isFresh);
    if (request.method !== 'initialize' && request.method !== 'server/discover') return undefined;
    if (!isFresh || this.#state !== 'unused') return undefined;
    const found = this.#find(request);
    if (found === undefined) return undefined;
    const { refused } = found;
    const result = request.method === 'initialize' ? found.initialize : found.discover;
    if (result === undefined) return refused === undefined ? undefined : { error: refused };
    this.#use(request, found);
    return { result: asOfRecord(result) };
  }

  /** A server answered a request of the client. */
  noted(request: Asked, result: McpParams): void {
    const { method } = request;
    if (this.isStanding) return;
    const client = clientIn(request);
    if (method === 'initialize') this.#begin(client, { initialize: result, lists: {} });
    else if (method === 'server/discover') this.#begin(client, { discover: result, lists: {} });
    else if (isListMethod(method)) {
      if (this.#client === undefined && client !== undefined) this.#begin(client, { lists: {} });
      this.#notePage(request, result);
    }
  }

  /** A server said that it does not know the question for its era. */
  refusedEra(request: Asked, error: McpParams): void {
    const client = clientIn(request);
    if (client !== undefined)
      this.#options.later(() => this.#options.shelf.keep(client, { refused: error, lists: {} }));
  }

  /**
   * A server answered the handshake that the client was answered from the record.
   * @returns why the record is no good any more, and was dropped; undefined when it is.
   */
  greeted({ result, refusal }: Pick<ReplayedHandshake, 'result' | 'refusal'>): FailureFacts | undefined {
    if (!this.isUnproven) return undefined;
    const why = this.#mismatch(result, refusal);
    if (why !== undefined) {
      this.drop();
      return noLongerSpoken(why);
    }
    this.#state = 'proven';
    this.#failures = 0;
    if (result !== undefined) {
      if (this.#seen.initialize !== undefined) this.#seen.initialize = result;
      else if (this.#seen.discover !== undefined) this.#seen.discover = result;
      this.#plan();
    }
    return undefined;
  }

  /** A server that was to confirm the record is gone. @returns whether nobody is to wait for another. */
  failed({ reason, message }: FailureFacts): { readonly isOver: boolean; readonly refused: FailureFacts | undefined } {
    if (!this.isUnproven) return { isOver: false, refused: undefined };
    if (reason === 'init_rejected') {
      this.drop();
      return { isOver: false, refused: noLongerSpoken(message) };
    }
    this.#failures++;
    // The next proxy is to find out by itself; a server that comes up after all is kept anew.
    this.#unshelve();
    const isOver = this.#failures >= this.#options.mostFailures;
    if (isOver) this.drop();
    return { isOver, refused: undefined };
  }

  /** It is believed no more, here and by later proxies; the session goes on as if its handshake had failed. */
  drop(): void {
    this.#state = 'over';
    this.#unshelve();
    this.#client = undefined;
    this.#told = undefined;
    this.#options.record.forget();
  }

  /**
   * Has the lists of the record compared with those of the server, and keeps these.
   * @returns the methods of those that the client was told otherwise. Never rejects: with a server that is lost it is done with the next.
   */
  async settle(wire: Wire): Promise<readonly string[]> {
    const { record } = this.#options;
    const lists = new Map<string, readonly McpParams[] | undefined>();
    try {
      for (const method of new Set([...Object.keys(this.#told?.lists ?? {}), ...record.lists.methods])) {
        lists.set(method, await listPages(wire, record, method));
      }
    } catch {
      return [];
    }
    if (!this.isStanding) return [];
    this.#state = 'over';
    // Compared at once, and only now: the client may have asked for one meanwhile.
    const changed = record.lists.methods.filter((method) => !isAsSeen(record, method, lists.get(method)));
    this.#seen.lists = Object.fromEntries(
      [...lists].filter((entry): entry is [string, readonly McpParams[]] => isComplete(entry[1])),
    );
    this.#plan();
    return changed;
  }

  #unshelve(): void {
    for (const client of this.#used) this.#options.shelf.drop(client);
  }

  #listOnRecord(request: Asked, isFresh: boolean): AnswerOnRecord | undefined {
    // Without a handshake, a list may be the first that a client asks for.
    if (this.#state === 'unused' && isFresh && clientIn(request) !== undefined) {
      const found = this.#find(request);
      if (found !== undefined && pageOnRecord(found, request) !== undefined) this.#use(request, found);
    }
    if (!this.isStanding || this.#told === undefined) return undefined;
    const client = clientIn(request);
    if (client !== undefined && client !== this.#client) return undefined;
    const page = pageOnRecord(this.#told, request);
    return page === undefined ? undefined : { result: asOfRecord(page) };
  }

  #find(request: Asked): RecordedHandshake | undefined {
    const client = clientIn(request);
    const found = client === undefined ? undefined : this.#options.shelf.find(client);
    if (client !== undefined && found !== undefined) this.#used.add(client);
    return found;
  }

  #use(request: Asked, found: RecordedHandshake): void {
    this.#state = 'unproven';
    this.#client = clientIn(request);
    this.#told = found;
    this.#seen = { ...found };
  }

  #begin(client: string | undefined, seen: RecordedHandshake): void {
    this.#client = client;
    this.#seen = seen;
    this.#partial.clear();
    this.#plan();
  }

  #notePage({ method, params }: Asked, result: McpParams): void {
    if (this.#client === undefined || Object.hasOwn(this.#seen.lists, method)) return;
    const { cursor } = params;
    const pages = cursor === undefined ? [] : (this.#partial.get(method) ?? []);
    if (cursor !== undefined && pages.at(-1)?.['nextCursor'] !== cursor) return;
    const all = [...pages, result].slice(0, mostPages);
    this.#partial.set(method, all);
    if (!isComplete(all)) return;
    this.#partial.delete(method);
    this.#seen.lists = { ...this.#seen.lists, [method]: all };
    this.#plan();
  }

  #mismatch(result: McpParams | undefined, refusal: string | undefined): string | undefined {
    const { record } = this.#options;
    const { greeting } = record;
    if (greeting.era === 'modern') {
      if (this.#told?.discover === undefined) return undefined;
      if (refusal !== undefined) return refusal;
      const wanted = claimedVersion(greeting.discover.params);
      const spoken = fieldsOf(result)['supportedVersions'];
      if (Array.isArray(spoken) && spoken.includes(wanted)) return undefined;
      return `it speaks ${String(spoken)}, and no longer ${wanted}`;
    }
    const [wanted, spoken] = [this.#told?.initialize, result].map((each) => String(each?.['protocolVersion']));
    return wanted === spoken ? undefined : `it speaks ${spoken}, and no longer ${wanted}`;
  }

  /** Has what was seen kept once the turn is over, in which more may follow. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#options.later(() => {
      this.#isPlanned = false;
      if (this.#client !== undefined) this.#options.shelf.keep(this.#client, this.#seen);
    });
  }
}

/** Pages kept of one list; a longer one is not kept. */
const mostPages = 100;

function isComplete(pages: readonly McpParams[] | undefined): boolean {
  return pages !== undefined && pages.length > 0 && typeof pages.at(-1)?.['nextCursor'] !== 'string';
}

function isAsSeen(record: SessionRecord, method: string, pages: readonly McpParams[] | undefined): boolean {
  return record.lists.pages(method).every((seen, index) => {
    const page = pages?.[index];
    if (page === undefined) return false;
    const { digest, next } = pageOf(method, page);
    return digest === seen.digest && (next === undefined) === (seen.next === undefined);
  });
}

function noLongerSpoken(why: string): FailureFacts {
  const message =
    `The client was answered from the record of an earlier handshake, which the server takes no longer: ${why}. ` +
    'The record is dropped; this request was not sent, and what comes after it is. A client that is started anew shakes hands anew';
  return {
    kind: 'protocol',
    reason: 'init_rejected',
    message,
    outcome: 'not_started',
    shouldRetry: false,
    breaker: 'ignored',
  };
}
