import type { FailureFacts } from '../../../policy/failures/failure.ts';
import { inTime } from '../../../policy/inTime.ts';
import { errorAnswer, notificationLine, requestLine, rpcErrors } from '../../../protocol/jsonRpc.ts';
import { changedMethod, isModern, subscriptionField, wantsChanges } from '../../../protocol/mcp/methods.ts';
import { fieldsOf, type McpId, type McpParams, type McpRequest, readMessage } from '../../../protocol/mcp/message.ts';
import { dropBody, type HttpAnswer } from '../../../streams/readBody.ts';
import { isNoServer, lostAnswer, refusalText, statusFacts, wrongAddress } from './httpFailure.ts';
import { listening } from './listening.ts';
import { ModernHeaders } from './modernHeaders.ts';
import { cancelledKey, type MessageSink, OpenRequests, type Outgoing, readOutgoing } from './openRequests.ts';
import { type ExchangeHost, PostExchange } from './postExchange.ts';
import { RemoteLink } from './remoteLink.ts';
import { namesSession, plainError, type Refusal, SessionDoubt, signOf, wordsIn } from './sessionDoubt.ts';
import {
  afterLoss,
  eraGone,
  isOfGreeting,
  isRefusedFor,
  isSessionRefusal,
  lostWithSession,
  sessionGone,
} from './sessionLoss.ts';
import { askInSession, greetAnew, type QuestionHost } from './sessionQuestion.ts';
import { StandingStream } from './standingStream.ts';

/** Time in ms that a server may take over a message that has no answer. */
const noticeMs = 30_000;
/** Time in ms that a request that was called off stays open for the server to hear of that. */
const cancelMs = 1000;
/** Time in ms that requests without a reaction of the server yet may take to be refused as well, once one was refused for its session. */
const sameFateMs = 1000;

/**
 * A server that is spoken to by Streamable HTTP, of either era: each line is a POST, and what comes in answer are lines again. Of the client's
 * own transport nothing is used: it takes messages and not lines, which the proxy passes on as they are; it does not notice when an answer is
 * lost, keeps a dead session, storms a stream that ends at once, and leaves cancelled requests open.
 */
export class HttpLink extends RemoteLink {
  readonly #exchanges = new Set<PostExchange>();
  readonly #listens = new Map<string, StandingStream>();
  readonly #modernHeaders = new ModernHeaders();
  readonly #sink: MessageSink = {
    out: (line) => this.out(line),
    isOpenElsewhere: (key) => [...this.#exchanges].some(({ requests }) => requests.has(key)),
    answered: (request, { result }) => this.#answered(request, result),
    failed: (id, facts) => this.requestFailed(id, facts),
    doubt: (request, { error }, mark) => {
      if (!this.#mayBeGone(request)) return undefined;
      const text = JSON.stringify(error);
      return this.#lostWith({ code: error?.['code'], text }, plainError(error), mark);
    },
  };
  readonly #doubt = new SessionDoubt({
    clock: this.clock,
    ask: () => this.asking((signal) => askInSession(this.#question(signal))),
    greet: () => this.asking((signal) => greetAnew(this.#question(signal))),
    lose: ({ status, text }) => this.#loseSession(status === undefined ? wordsIn(text) : `HTTP ${status}`, status),
  });
  readonly #exchangeHost: ExchangeHost = {
    clock: this.clock,
    scope: this.scope,
    flow: this.flow,
    sink: this.#sink,
    maxMessageBytes: this.context.settings.maxMessageBytes,
    post: (outgoing, signal, mark) => this.#post(outgoing, signal, mark),
    resume: (lastEventId, signal) => this.#get(lastEventId, signal),
    mayResume: () => this.#era !== 'modern',
    refused: (outgoing, response, text, requests) => this.#refused(outgoing, response, text, requests),
    doubt: async ({ requests: [first] }, text, status, mark) =>
      first !== undefined && this.#mayBeGone(first)
        ? this.#lostWith({ text, status }, status === undefined ? wordsIn(text) : `HTTP ${status}`, mark)
        : undefined,
    failed: (id, facts) => this.requestFailed(id, facts),
    unreadable: ({ requests: [first] }, status, type) => {
      if (first?.method === 'initialize' && isNoServer(status, type))
        this.#strange(status, `HTTP ${status} with a page`);
    },
  };
  #session: string | undefined = undefined;
  #version: string | undefined = undefined;
  /** Headers of a POST in this session. */
  #postHeaders: { session?: string | undefined; version?: string | undefined; all: Record<string, string> } = {
    all: postHeaders,
  };
  #capabilities: McpParams = {};
  #era: 'legacy' | 'modern' | undefined = undefined;
  /** Fields in which each request of the stateless era describes itself. */
  #envelope: McpParams | undefined = undefined;
  #standing: StandingStream | undefined = undefined;
  /** Lists that were answered before anybody listened for their changes. */
  readonly #unheard = new Set<string>();
  #isLosing = false;
  #eventId: string | undefined = undefined;
  /** The handshake of the session, once the server has answered it. */
  #greeting: McpRequest | undefined = undefined;
  /** True once the session was of use: it did more than begin. */
  #hasWorked = false;
  #probes = 0;

  protected override get takesRequests(): boolean {
    return !this.#isLosing;
  }

  protected override get isBusy(): boolean {
    return [...this.#exchanges].some(({ requests }) => requests.size > 0);
  }

  protected override open(): Promise<void> {
    this.context.access.checkHeld();
    return Promise.resolve();
  }

  protected override send(outgoing: Outgoing): Promise<void> {
    const [first] = outgoing.requests;
    if (first !== undefined) this.#noteEra(first);
    const cancelled = cancelledKey(outgoing);
    if (cancelled !== undefined) return this.#cancel(cancelled, outgoing);
    if (first?.method === 'subscriptions/listen') return this.#listen(first, outgoing);
    return this.#exchange(outgoing);
  }

  protected override release(): void {
    for (const exchange of [...this.#exchanges]) exchange.abandon();
    for (const listen of this.#listens.values()) listen.stop();
    this.#standing?.stop();
  }

  protected override async takeLeave(): Promise<void> {
    if (this.#session === undefined || this.#isLosing) return;
    const own = new AbortController();
    const headers = this.#sessionHeaders();
    const { closeMs } = this.context.settings;
    const left = this.context.requester
      .send({ method: 'DELETE', headers, signal: own.signal })
      .then(dropBody, () => undefined);
    await inTime(left, { clock: this.clock, limitMs: closeMs });
    own.abort();
  }

  protected override shookHands(): void {
    if (this.#era === 'modern' || this.#isLosing) return;
    this.#standing = this.#standingStream();
    void this.#standing.run();
  }

  async #exchange(outgoing: Outgoing): Promise<void> {
    const exchange = new PostExchange(outgoing, this.#exchangeHost, this.#doubt.mark);
    this.#exchanges.add(exchange);
    const isNotice = outgoing.requests.length === 0;
    const limit = isNotice ? this.clock.setTimeout(() => exchange.abandon(), noticeMs, { running: true }) : undefined;
    await exchange.run();
    this.clock.clearTimeout(limit);
    // Exchanges refused with the session stay until the link ends.
    if (!exchange.isHeld) this.#exchanges.delete(exchange);
    this.checkIdle();
  }

  async #post(outgoing: Outgoing, signal: AbortSignal, mark = this.#doubt.mark): Promise<HttpAnswer> {
    const [first] = outgoing.requests;
    const isInitialize = first?.method === 'initialize';
    const kept = isInitialize ? this.context.takeGreeting(first) : undefined;
    const isOfSession = (text: string): Promise<boolean> =>
      first !== undefined && this.#mayBeGone(first)
        ? this.#doubt.isGone({ status: 401, text }, mark)
        : Promise.resolve(false);
    const headers = this.#headersOf(outgoing);
    const request = { method: 'POST', headers, body: outgoing.text, signal, isOfSession } as const;
    const response = kept ?? (await this.context.requester.send(request));
    if (isInitialize && response.ok) {
      this.#session = response.headers.get('mcp-session-id') ?? undefined;
      if (this.#session !== undefined) this.context.keepOut(this.#session);
    }
    return response;
  }

  #headersOf({ requests: [first] }: Outgoing): Readonly<Record<string, string>> {
    if (first?.method === 'initialize') return postHeaders;
    const [session, version] = [this.#session, this.#version];
    if (this.#postHeaders.session !== session || this.#postHeaders.version !== version) {
      this.#postHeaders = { session, version, all: { ...postHeaders, ...this.#sessionHeaders() } };
    }
    const { all } = this.#postHeaders;
    return first === undefined || !isModern(first.params) ? all : { ...all, ...this.#modernHeaders.of(first) };
  }

  #get(lastEventId: string | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    const place = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const headers = { accept: 'text/event-stream', ...this.#sessionHeaders(), ...place };
    return this.context.requester.send({ method: 'GET', headers, signal });
  }

  #sessionHeaders(): Readonly<Record<string, string>> {
    return {
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
    };
  }

  #noteEra({ method, params }: McpRequest): void {
    if (isModern(params)) {
      this.#envelope = fieldsOf(params['_meta']);
      // The question for the era is asked in the words of one of them.
      if (method !== 'server/discover') this.#era = 'modern';
    } else if (method === 'initialize') {
      this.#era = 'legacy';
    }
  }

  #answered(request: McpRequest, result: McpParams | undefined): void {
    const { method, params } = request;
    if (result === undefined) return;
    if (!isOfGreeting(method)) this.#hasWorked = true;
    if (method === 'tools/list' && isModern(params)) this.#modernHeaders.learn(result);
    if (changedMethod(method) !== undefined) this.#unheard.add(method);
    if (method !== 'initialize') return;
    this.#greeting = request;
    this.#capabilities = fieldsOf(result['capabilities']);
    const { protocolVersion } = result;
    // The first version of the transport does not know the header.
    if (typeof protocolVersion === 'string' && protocolVersion > '2025-03-26') this.#version = protocolVersion;
  }

  /** Tells whether an answer to this request can say that the session is gone, or the version that was agreed on: not before either was. */
  #mayBeGone({ method }: McpRequest): boolean {
    if (!this.#hasWorked && !this.context.mayRenew) return false;
    return method !== 'initialize' && (this.#greeting !== undefined || this.#era === 'modern');
  }

  /** Gives the meaning of a refusal where the session turns out to be gone. @param how - it was said. */
  async #lostWith(refusal: Refusal, how: string, mark: number): Promise<FailureFacts | undefined> {
    const isGone = this.#isLosing || (await this.#doubt.isGone(refusal, mark));
    return isGone ? lostWithSession(this.context.hide(how), refusal.status) : undefined;
  }

  #question(signal: AbortSignal): QuestionHost {
    return {
      signal,
      clock: this.clock,
      context: this.context,
      headers: (outgoing) => this.#headersOf(outgoing),
      envelope: this.#era === 'modern' ? (this.#envelope ?? {}) : undefined,
      hasSession: this.#session !== undefined,
      greeting: this.#greeting,
    };
  }

  #loseSession(how: string, status: number | undefined): void {
    if (this.#isLosing) return;
    if (this.#era === 'modern') this.context.era = undefined;
    const isExpected = this.context.renews(this.#hasWorked);
    this.#lose(sessionGone(this.context.hide(how), status, isExpected));
  }

  /** Gives the meaning of a refusal for the requests it answers; undefined where they were refused because the session is gone, or the era. */
  async #refused(
    { requests: [first] }: Outgoing,
    response: HttpAnswer,
    text: string,
    requests: OpenRequests,
  ): Promise<FailureFacts | undefined> {
    const { status, headers } = response;
    const facts = statusFacts(response, text, this.scope);
    if (first?.method !== 'initialize' && isSessionRefusal(status, text, this.#session)) {
      this.#loseSession(`HTTP ${status}`, status);
      return undefined;
    }
    const eraEnd = this.#era === 'modern' && first !== undefined ? eraGone(status, text, requests) : undefined;
    if (first !== undefined && eraEnd === undefined && this.#mayBeGone(first)) {
      const isBusy = headers.has('retry-after') || headers.has('retry-after-ms');
      const refusal = { status, text, isBusy };
      const gone = await this.#lostWith(refusal, facts.message, requests.mark);
      if (gone !== undefined) return isRefusedFor(refusal) ? undefined : gone;
    }
    const isOfServer = status < 500 && status !== 401 && status !== 403 && status !== 408 && status !== 429;
    if (!isOfServer || first === undefined) return facts;
    if (eraEnd !== undefined) {
      this.context.era = undefined;
      this.#lose(eraEnd);
      return undefined;
    }
    if (requests.takeRefusal(text)) return facts;
    if (first.method === 'server/discover') {
      requests.takeRefusal(errorAnswer(first.id, rpcErrors.methodNotFound, `HTTP ${status}`).trimEnd());
    }
    const maySpeakOlder = [400, 404, 405].includes(status) && this.context.settings.transport === 'auto';
    if (first.method === 'initialize' && maySpeakOlder && this.context.transport === undefined) {
      this.context.transport = 'sse';
      this.finish({
        facts: { ...facts, kind: 'crash', reason: 'connection_closed', outcome: 'not_started', breaker: 'ignored' },
      });
    } else if (first.method === 'initialize' && isNoServer(status, null)) return this.#strange(status, facts.message);
    return facts;
  }

  /** Nobody is there who speaks the protocol. @returns nothing: it is told with the end of the link. */
  #strange(status: number, said: string): undefined {
    this.finish({ facts: wrongAddress(this.context.settings.url, { status, said: this.context.hide(said) }) });
  }

  async #cancel(key: string, outgoing: Outgoing): Promise<void> {
    const exchange = [...this.#exchanges].find(({ requests }) => requests.has(key));
    const listen = this.#listens.get(key);
    listen?.stop();
    this.#listens.delete(key);
    // In the stateless era the end of the request says so.
    if (this.#era !== 'modern' && exchange !== undefined && !exchange.isHeld) {
      await inTime(this.#exchange(outgoing), { clock: this.clock, limitMs: cancelMs });
    }
    exchange?.requests.forget(key);
    if (exchange !== undefined && exchange.requests.size === 0 && !exchange.isHeld) exchange.abandon();
  }

  #listen(request: McpRequest, outgoing: Outgoing): Promise<void> {
    const { id, key, params } = request;
    const stream = new StandingStream(
      listening({
        link: this.#standingParts(),
        request,
        open: (signal) => this.#post(outgoing, signal),
        out: (line) => this.out(line),
        refused: (response, text) => {
          const open = new OpenRequests(outgoing.requests, this.#sink, 0);
          void this.#refused(outgoing, response, text, open).then((facts) => {
            if (open.size > 0 && facts !== undefined) this.requestFailed(id, facts);
          });
        },
        opened: (again) => this.#tellChanged(again, (method) => wantsChanges(params, method), id),
      }),
    );
    this.#listens.set(key, stream);
    return stream.run().then(() => void this.#listens.delete(key));
  }

  #standingParts(): Pick<
    ConstructorParameters<typeof StandingStream>[0],
    'clock' | 'random' | 'maxMessageBytes' | 'flow' | 'isAlive'
  > {
    const { random, settings } = this.context;
    const { maxMessageBytes } = settings;
    return { clock: this.clock, random, maxMessageBytes, flow: this.flow, isAlive: () => this.#isAlive() };
  }

  #standingStream(): StandingStream {
    return new StandingStream({
      ...this.#standingParts(),
      open: (signal) => this.#get(this.#eventId, signal),
      eventId: (id) => (this.#eventId = id),
      message: (text) => {
        this.#takeUnasked(text);
        return 'on';
      },
      opened: (again) => {
        // Events with ids are told again.
        if (this.#eventId === undefined) this.#tellChanged(again, (method) => this.#announces(method), undefined);
      },
      refused: async (response, signal) => {
        const text = response.ok ? '' : await refusalText(response, this.clock, signal);
        dropBody(response);
        const { status } = response;
        if (isSessionRefusal(status, text, this.#session)) this.#loseSession(`HTTP ${status}`, status);
        else if (!response.ok && namesSession(text)) void this.#doubt.isGone({ status, text }, this.#doubt.mark);
        // Whoever answers with anything else has no stream; one that is too busy, or has yet to see that the last one ended, may have.
        return response.ok || (status < 500 && ![401, 403, 408, 409, 425, 429].includes(status));
      },
    });
  }

  /** An answer on the standing stream is for nobody, unless its request waits: a server may answer there what it resumes. */
  #takeUnasked(text: string): void {
    const message = readMessage(text);
    if (message.kind === 'garbage' || message.kind === 'foreign') return;
    const key = message.kind === 'answer' ? message.key : undefined;
    const exchange = key === undefined ? undefined : [...this.#exchanges].find(({ requests }) => requests.has(key));
    if (exchange === undefined) this.out(`${text}\n`);
    else exchange.requests.take(text);
  }

  #announces(method: string): boolean {
    const [list = ''] = method.split('/');
    return fieldsOf(this.#capabilities[list])['listChanged'] === true;
  }

  /** Tells that lists may have changed while nobody could hear it, as it is not known. Before the first time only a list that was read can be another. */
  #tellChanged(again: boolean, concerns: (method: string) => boolean, subscription: McpId | undefined): void {
    const params = subscription === undefined ? undefined : { _meta: { [subscriptionField]: subscription } };
    for (const method of ['tools/list', 'prompts/list', 'resources/list']) {
      const changed = changedMethod(method);
      const isKnown = again || this.#unheard.has(method);
      if (changed !== undefined && isKnown && concerns(method)) this.out(notificationLine(changed, params));
    }
  }

  /** Asks for a sign of life; a server that gives none is hung. */
  async #isAlive(): Promise<boolean> {
    if (this.end !== undefined || this.#isLosing) return false;
    const method = this.#era === 'modern' ? 'server/discover' : 'ping';
    const params = this.#envelope === undefined ? undefined : { _meta: this.#envelope };
    const asked = readOutgoing(requestLine(`unwedge-${++this.#probes}`, method, params).trimEnd());
    const isAlive = await this.asking((signal) => {
      const answered = this.#post(asked, signal).then(
        async (response) => {
          const text = await refusalText(response, this.clock, signal);
          const isGone =
            this.#era !== 'modern' && signOf(response.status, text, this.#session !== undefined) === 'gone';
          if (isGone) this.#loseSession(`HTTP ${response.status}`, response.status);
          return !isGone;
        },
        () => false,
      );
      const limitMs = this.context.settings.pingMs;
      return inTime(answered, { clock: this.clock, limitMs, running: true });
    });
    if (isAlive === undefined) this.finish({ facts: hung });
    return isAlive === true;
  }

  /**
   * The server does not know what was agreed on any more: the link ends, so that the next one begins anew. Requests that it was to refuse as well
   * are given the time for that. Those that it did not refuse may have begun, with headers or without: servers send them when the tool is done.
   */
  #lose(facts: FailureFacts): void {
    if (this.#isLosing || this.end !== undefined) return;
    this.#isLosing = true;
    void afterLoss(this.clock, sameFateMs, () => [...this.#exchanges]).then(() => {
      for (const exchange of this.#exchanges) {
        if (!exchange.isHeld) exchange.fail({ ...lostAnswer(facts.message), breaker: 'ignored' });
      }
      // Requests are ended one by one before the rest is, which was refused.
      this.clock.nextTurn(() => this.finish({ facts }));
    });
  }
}

const postHeaders = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

const hung: FailureFacts = {
  kind: 'crash',
  reason: 'hang',
  message: 'The server did not answer a ping and was given up',
  outcome: 'unknown',
};
