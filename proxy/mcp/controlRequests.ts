import type { Timer } from '../../src/policy/face.ts';
import { withStderr } from '../../src/actors/mcp/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { errorAnswer, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpParams,
  type McpRequest,
  fieldsOf,
  idKey,
  subscriptionField,
  wantsChanges,
} from '../../src/protocol/mcp/face.ts';
import { isDiscovered } from '../wire/sessionRecord.ts';
import { resultAnswer } from '../wire/syntheticAnswer.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Question } from './wire.ts';

/** A request beside the calls: it waits for its answer as long as it has to, or is answered by us. */
interface Aside {
  readonly request: McpRequest;
  readonly line: Uint8Array;
  question: Question | undefined;
  timer: Timer | undefined;
  /** The server has shown life since it was asked. */
  spoken: boolean;
  /** True once the client knows that a subscription stands. */
  acknowledged: boolean;
}

/** A server may be busy; the client only wants to know whether somebody is there, in ms. */
const awaited = { ref: true, running: true } as const;
const pingMs = 5000;
/** Times that a server may take to say of which era it is, from its first sign of life and in all, in ms. */
const discoverMs = 3000;
const discoverAtMostMs = 10_000;
/** Subscriptions at a time; one more is refused. */
const mostListens = 1000;

/** The requests that are no calls: the ping of the client, its question for the era of the server, and its standing subscriptions. */
export class ControlRequests {
  readonly #scope: ProxyScope;
  readonly #controlRequests = new Map<string, Aside>();
  /** The server was found to be of the era with a handshake. */
  #isLegacy = false;
  readonly #idle: (() => void)[] = [];
  readonly #owed = new Set<string>();

  constructor(scope: ProxyScope) {
    this.#scope = scope;
  }

  /** Tells whether a request of this method is none of the calls. */
  takes({ method }: McpRequest): boolean {
    if (method === 'server/discover') return !this.#scope.record.established;
    return method === 'ping' || method === 'subscriptions/listen';
  }

  /** True while the server is being asked for its era: it may end of that. */
  get isDiscovering(): boolean {
    for (const { request, question } of this.#controlRequests.values()) {
      if (request.method === 'server/discover' && question !== undefined) return true;
    }
    return false;
  }

  /** True while there has to be a server: a subscription stands, or nobody was there to be asked for its era. */
  get isWaiting(): boolean {
    for (const { request } of this.#controlRequests.values()) if (request.method !== 'ping') return true;
    return false;
  }

  /** Resolves when each has its answer but the subscriptions, which have none while they stand. */
  allAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Has a request answered, once. */
  start(request: McpRequest, line: Uint8Array): void {
    const { clock, wire, outlet } = this.#scope;
    const { id, key, method } = request;
    if (this.#controlRequests.has(key)) {
      outlet.write(errorAnswer(id, rpcErrors.invalidRequest, 'There is a request of this id already'));
    } else if (method === 'ping' && wire?.ready !== true) {
      // The client asks whether somebody is there: this side is.
      outlet.write(resultAnswer(id, {}));
    } else if (method === 'server/discover' && this.#isLegacy) {
      this.#refuseEra(request);
    } else if (this.#controlRequests.size >= mostListens) {
      outlet.write(errorAnswer(id, rpcErrors.internal, `There are ${mostListens} subscriptions already`));
    } else {
      const aside: Aside = { request, line, question: undefined, timer: undefined, spoken: false, acknowledged: false };
      this.#controlRequests.set(key, aside);
      const limitMs = method === 'ping' ? pingMs : method === 'server/discover' ? discoverAtMostMs : undefined;
      if (limitMs !== undefined) aside.timer = clock.setTimeout(() => this.#expired(aside), limitMs, awaited);
      this.#ask(aside);
    }
  }

  /** A server takes requests: it is asked what the last one was not, or did not answer. */
  serverReady(): void {
    for (const aside of [...this.#controlRequests.values()]) this.#ask(aside);
  }

  /** A server could not be started, or ended before it was of any use. */
  serverFailed(facts: FailureFacts): void {
    // That the one before it ended was not for being asked for its era.
    this.#isLegacy = false;
    if (facts.kind !== 'spawn' && facts.reason !== 'not_found') return;
    for (const aside of [...this.#controlRequests.values()]) {
      if (aside.request.method !== 'server/discover') continue;
      this.#end(aside);
      this.#refuseEra(aside.request, facts.message);
    }
  }

  /** The server has said something, whatever it was. */
  serverSpoke(): void {
    const { clock } = this.#scope;
    for (const aside of this.#controlRequests.values()) {
      if (aside.request.method !== 'server/discover' || aside.spoken) continue;
      aside.spoken = true;
      clock.clearTimeout(aside.timer);
      aside.timer = clock.setTimeout(() => this.#expired(aside), discoverMs, awaited);
    }
  }

  /**
   * The client waits for an answer no longer.
   * @returns `mine` when the request is one of these, and what the server is to be told about.
   */
  cancel(key: string): { readonly mine: boolean; readonly question: Question | undefined } {
    const aside = this.#controlRequests.get(key);
    if (aside === undefined) return { mine: false, question: undefined };
    const { question } = aside;
    if (question !== undefined) this.#scope.wire?.giveUp(question, undefined);
    this.#end(aside);
    return { mine: true, question };
  }

  /** The server ends a subscription of its own accord; the next one is not asked for it. */
  withdrawn(key: string | undefined): void {
    const aside = key === undefined ? undefined : this.#controlRequests.get(key);
    if (aside?.request.method === 'subscriptions/listen' && key !== undefined) this.cancel(key);
  }

  /** Tells whether the client may hear that its subscription stands: once, however many servers say so. */
  acknowledged(params: McpParams): boolean {
    const key = idKey(fieldsOf(params['_meta'])[subscriptionField]);
    const aside = key === undefined ? undefined : this.#controlRequests.get(key);
    if (aside === undefined) return true;
    const isNews = !aside.acknowledged;
    aside.acknowledged = true;
    return isNews;
  }

  /** Lists have changed that nobody listens for: who begins to is told. */
  owe(methods: readonly string[]): void {
    for (const method of methods) this.#owed.add(method);
  }

  /** The changes that a subscription, now that it stands, is to hear of. */
  *owed(params: McpParams): Iterable<{ readonly id: number | string; readonly method: string }> {
    const own = idKey(fieldsOf(params['_meta'])[subscriptionField]);
    for (const each of this.listening([...this.#owed])) {
      if (idKey(each.id) === own && this.#owed.delete(each.method)) yield each;
    }
  }

  /** The ids of the subscriptions that want to hear of changes of these lists, by the method of each list. */
  *listening(methods: readonly string[]): Iterable<{ readonly id: number | string; readonly method: string }> {
    for (const { request } of this.#controlRequests.values()) {
      if (request.method !== 'subscriptions/listen') continue;
      for (const method of methods) if (wantsChanges(request.params, method)) yield { id: request.id, method };
    }
  }

  /** Nothing waits any more. */
  stop(): void {
    for (const aside of [...this.#controlRequests.values()]) {
      if (aside.request.method === 'subscriptions/listen') this.#end(aside);
      else this.#expired(aside);
    }
  }

  #ask(aside: Aside): void {
    const wire = this.#scope.wire;
    if (wire?.ready !== true || aside.question !== undefined) return;
    const { request, line } = aside;
    aside.question = wire.ask(
      {
        answered: (answerLine, { result, error, flaw }) => {
          if (flaw !== undefined) {
            this.#misanswered(aside, flaw);
            return;
          }
          this.#end(aside);
          const { record, recorded, outlet } = this.#scope;
          if (isDiscovered(result) && result !== undefined) {
            record.answered(request, result);
            recorded?.noted(request, result);
          } else if (request.method === 'server/discover' && error?.['code'] === rpcErrors.methodNotFound)
            recorded?.refusedEra(request, error);
          outlet.write(answerLine);
        },
        lost: (facts) => this.#lost(aside, facts),
      },
      { id: request.id, key: request.key, line },
    );
  }

  #lost(aside: Aside, { message }: FailureFacts): void {
    const { request } = aside;
    aside.question = undefined;
    if (request.method === 'subscriptions/listen') return;
    this.#end(aside);
    if (request.method === 'ping') this.#scope.outlet.write(resultAnswer(request.id, {}));
    else {
      this.#isLegacy = true;
      this.#refuseEra(request, withStderr(message, this.#scope.lastStderr));
    }
  }

  /** Its answer is none that the client would take. */
  #misanswered(aside: Aside, flaw: string): void {
    const { id, method } = aside.request;
    if (method !== 'subscriptions/listen') {
      this.#expired(aside);
      return;
    }
    this.#end(aside);
    this.#scope.outlet.write(errorAnswer(id, rpcErrors.internal, `The answer of the server is malformed: ${flaw}`));
  }

  #expired(aside: Aside): void {
    const { request, question } = aside;
    this.#end(aside);
    if (question !== undefined) this.#scope.wire?.giveUp(question, 'no answer in time');
    if (request.method === 'ping') this.#scope.outlet.write(resultAnswer(request.id, {}));
    else this.#refuseEra(request);
  }

  /** As a server of the era with a handshake would: the client goes on with that. */
  #refuseEra({ id }: McpRequest, why?: string): void {
    const message = `Method not found: server/discover${why === undefined ? '' : `. ${why}`}`;
    this.#scope.outlet.write(errorAnswer(id, rpcErrors.methodNotFound, message));
  }

  #end(aside: Aside): void {
    this.#scope.clock.clearTimeout(aside.timer);
    aside.timer = undefined;
    this.#controlRequests.delete(aside.request.key);
    this.#checkIdle();
  }

  #checkIdle(): void {
    for (const { request } of this.#controlRequests.values()) if (request.method !== 'subscriptions/listen') return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
