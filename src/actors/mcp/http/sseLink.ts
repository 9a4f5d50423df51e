import { formatDuration } from '../../../policy/text/duration.ts';
import { AttemptError, type FailureFacts } from '../../../policy/failures/failure.ts';
import { inTime } from '../../../policy/inTime.ts';
import { idKey, type McpAnswer, type McpId, readMessage } from '../../../protocol/mcp/message.ts';
import { requestLine } from '../../../protocol/jsonRpc.ts';
import { dropBody, type HttpAnswer } from '../../../streams/readBody.ts';
import type { ServerSentEvent } from '../../../streams/serverSentEvents.ts';
import { isEventStream, messageText, readEventStream } from './eventStream.ts';
import { brokenFacts, isNoServer, refusalText, statusFacts, wrongAddress } from './httpFailure.ts';
import type { Outgoing } from './openRequests.ts';
import { RemoteLink } from './remoteLink.ts';
import { plainError, type SessionSign, SessionDoubt, signOf } from './sessionDoubt.ts';
import { isOfGreeting, isRefusedFor, lostWithSession, sessionGone } from './sessionLoss.ts';

/** Time in ms that a server may take to accept a message. */
const acceptMs = 30_000;

/**
 * A server that is spoken to by the transport of 2024: one stream brings all it says, messages go to another address by POST. The session lives
 * as long as the stream. The client's own transport connects again without a handshake, which no server takes, and gives up for good when the
 * server is away for a moment: here the end of the stream is the end of the link, and the next one is a session of its own.
 */
export class SseLink extends RemoteLink {
  readonly #abort = new AbortController();
  /** Requests without an answer, and as of when each was sent. */
  readonly #open = new Map<string, { readonly id: McpId; readonly method: string; readonly mark: number }>();
  /** Requests whose errors are looked into. */
  readonly #doubted = new Set<string>();
  readonly #posts = new Set<AbortController>();
  readonly #doubt = new SessionDoubt({
    clock: this.clock,
    ask: () => this.asking((signal) => this.#ask(signal)),
    greet: () => this.asking((signal) => this.#isReachable(signal)),
    lose: () => undefined,
  });
  #endpoint: string | undefined = undefined;
  /** A ping of ours that waits for its answer. */
  #probe: { readonly key: string; readonly heard: (text: string) => void } | undefined = undefined;
  #isGreeted = false;
  #hasWorked = false;
  #isLosing = false;

  protected override get takesRequests(): boolean {
    return this.#endpoint !== undefined && !this.#isLosing;
  }

  protected override get isBusy(): boolean {
    return this.#open.size > 0;
  }

  protected override async open(): Promise<void> {
    this.context.access.checkHeld();
    try {
      await this.#connect();
    } catch (error) {
      // The transport that it speaks is to be found out anew.
      if (this.context.settings.transport === 'auto') this.context.transport = undefined;
      throw new AttemptError({ ...brokenFacts(error, this.scope), outcome: 'not_started' });
    }
  }

  protected override async send({ text, requests }: Outgoing): Promise<void> {
    const { mark } = this.#doubt;
    for (const { key, id, method } of requests) this.#open.set(key, { id, method, mark });
    const own = new AbortController();
    this.#posts.add(own);
    const limit = this.clock.setTimeout(() => own.abort(), acceptMs, { running: true });
    const isOfSession = (said: string): Promise<boolean> =>
      this.#mayBeGone(requests) ? this.#doubt.isGone({ status: 401, text: said }, mark) : Promise.resolve(false);
    try {
      // What is told as the link ends is not sent any more: the server knows no session whose stream has ended.
      if (requests.length === 0) await new Promise<void>((resolve) => this.clock.nextTurn(resolve));
      const response = await this.#post(text, own.signal, isOfSession);
      if (response.ok) dropBody(response);
      else {
        const said = await refusalText(response, this.clock, own.signal);
        this.clock.clearTimeout(limit);
        await this.#refused(requests, response, said, mark);
      }
    } catch (error) {
      this.#fail(requests, own.signal.aborted ? notAccepted : brokenFacts(error, this.scope));
    } finally {
      this.clock.clearTimeout(limit);
      this.#posts.delete(own);
    }
  }

  protected override release(): void {
    this.#abort.abort();
    for (const post of this.#posts) post.abort();
  }

  protected override takeLeave(): Promise<void> {
    return Promise.resolve();
  }

  protected override shookHands(): void {
    // The stream stands since before it.
    this.#isGreeted = true;
  }

  #post(text: string, signal: AbortSignal, isOfSession?: (said: string) => Promise<boolean>): Promise<HttpAnswer> {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return this.context.requester.send({
      method: 'POST',
      url: this.#endpoint,
      headers,
      body: text,
      signal,
      isOfSession,
    });
  }

  #mayBeGone(requests: Outgoing['requests']): boolean {
    return this.#isGreeted && requests.length > 0 && (this.#hasWorked || this.context.mayRenew);
  }

  async #refused(requests: Outgoing['requests'], response: HttpAnswer, text: string, mark: number): Promise<void> {
    const { status, headers } = response;
    const facts = statusFacts(response, text, this.scope);
    const isBusy = headers.has('retry-after') || headers.has('retry-after-ms');
    const refusal = { status, text, isBusy };
    // It knows this session no more: the stream is one of a server that is gone.
    const isKnown = status === 404;
    const isGone = isKnown || (this.#mayBeGone(requests) && (await this.#doubt.isGone(refusal, mark)));
    if (this.end !== undefined) return;
    if (!isGone) this.#fail(requests, facts);
    else if (isKnown || isRefusedFor(refusal)) this.#lose(facts.message, status, requests);
    else this.#lose(facts.message, status, []);
  }

  #fail(requests: Outgoing['requests'], facts: FailureFacts): void {
    if (this.end !== undefined) return;
    for (const { key, id } of requests) if (this.#open.delete(key)) this.requestFailed(id, facts);
  }

  /** The session is gone. What was refused for it was not begun; of what the server took before nobody knows. */
  #lose(how: string, status: number | undefined, refused: Outgoing['requests']): void {
    if (this.#isLosing || this.end !== undefined) return;
    this.#isLosing = true;
    const isExpected = this.context.renews(this.#hasWorked);
    const keys = new Set(refused.map(({ key }) => key));
    for (const [key, { id }] of this.#open) {
      if (!keys.has(key)) this.requestFailed(id, lostWithSession(how, status));
    }
    // Requests are ended one by one before the rest is, which was refused.
    this.clock.nextTurn(() => this.finish({ facts: sessionGone(how, status, isExpected) }));
  }

  /** Asks for a sign of life in the session; its answer comes on the stream, or in the refusal of the message. */
  async #ask(signal: AbortSignal): Promise<SessionSign> {
    const id = `unwedge-${++probes}`;
    const answered = new Promise<SessionSign>((resolve) => {
      const key = idKey(id) ?? '';
      this.#probe = { key, heard: (text) => resolve(signOf(200, text, true)) };
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const body = requestLine(id, 'ping', undefined).trimEnd();
      const request = { method: 'POST', url: this.#endpoint, headers, body, signal } as const;
      this.context.requester
        .ask(request)
        .then(async (response) => {
          if (response.ok) dropBody(response);
          else resolve(signOf(response.status, await refusalText(response, this.clock, signal), true));
        })
        .catch(() => resolve('silent'));
    });
    const { pingMs } = this.context.settings;
    const sign = await inTime(answered, { clock: this.clock, limitMs: pingMs, running: true, signal });
    this.#probe = undefined;
    return sign ?? 'silent';
  }

  /** Tells whether the server begins another stream: it is there, and lets us in. */
  async #isReachable(signal: AbortSignal): Promise<boolean> {
    const request = { method: 'GET', headers: { accept: 'text/event-stream' }, signal } as const;
    const opened = this.context.requester.ask(request).then(
      (response) => response.ok && isEventStream(response),
      () => false,
    );
    const limitMs = this.context.settings.handshakeMs;
    return (await inTime(opened, { clock: this.clock, limitMs, running: true, signal })) === true;
  }

  /** Resolves when the server has said where messages go. */
  async #connect(): Promise<void> {
    const { signal } = this.#abort;
    const headers = { accept: 'text/event-stream' };
    const response = await this.context.requester.send({ method: 'GET', headers, signal });
    const { status } = response;
    const isNobody = isNoServer(status, response.headers.get('content-type'));
    if (!response.ok) {
      const facts = statusFacts(response, await refusalText(response, this.clock, signal), this.scope);
      throw new AttemptError(
        isNobody ? wrongAddress(this.context.settings.url, { status, said: facts.message }) : facts,
      );
    }
    if (!isEventStream(response)) {
      dropBody(response);
      const said = `HTTP ${status} with a page`;
      if (isNobody) throw new AttemptError(wrongAddress(this.context.settings.url, { status, said }));
      throw new AttemptError({ kind: 'protocol', message: 'The server has no stream of events', outcome: 'failed' });
    }
    await new Promise<void>((resolve, reject) => {
      const { maxMessageBytes: maxBytes } = this.context.settings;
      const onEvent = (event: ServerSentEvent): void => {
        if (event.event === 'endpoint') this.#found(event.data, resolve, reject);
        else if (event.event === undefined || event.event === 'message') this.#take(messageText(event.data));
      };
      const over = (error?: unknown): void => {
        reject(new AttemptError({ kind: 'protocol', message: 'The stream ended before it began', outcome: 'failed' }));
        this.finish({ facts: error === undefined ? streamEnded : brokenFacts(error, this.scope) });
      };
      readEventStream(response, { maxBytes, flow: this.flow, onEvent }).then(() => over(), over);
    });
  }

  /** The address must be of the same origin: what is sent there are our headers. */
  #found(address: string, resolve: () => void, reject: (error: Error) => void): void {
    const { url } = this.context.settings;
    const endpoint = URL.canParse(address, url) ? new URL(address, url) : undefined;
    if (endpoint?.origin === new URL(url).origin) {
      this.#endpoint ??= endpoint.href;
      resolve();
      return;
    }
    const message = 'The server names an address of another origin to send messages to';
    reject(new AttemptError({ kind: 'protocol', message, outcome: 'failed' }));
  }

  #take(text: string): void {
    const message = readMessage(text);
    if (message.kind === 'garbage' || message.kind === 'foreign') return;
    if (message.kind === 'answer' && this.#takeSingle(message, text)) return;
    const answers = message.kind === 'batch' ? message.items : [message];
    for (const each of answers) if (each.kind === 'answer' && each.key !== undefined) this.#close(each.key, each);
    this.out(`${text}\n`);
    this.checkIdle();
  }

  /** Takes the answer to a question of ours, and an error that may mean that the session is gone. False where it is like any other. */
  #takeSingle({ key = '', error }: McpAnswer, text: string): boolean {
    if (key === this.#probe?.key) {
      this.#probe.heard(text);
      return true;
    }
    const asked = this.#open.get(key);
    if (asked === undefined || error === undefined || this.#doubted.has(key)) return false;
    if (!this.#isGreeted || (!this.#hasWorked && !this.context.mayRenew)) return false;
    const refusal = { code: error['code'], text: JSON.stringify(error) };
    this.#doubted.add(key);
    void this.#doubt.isGone(refusal, asked.mark).then((isGone) => {
      this.#doubted.delete(key);
      if (this.end !== undefined) return;
      if (isGone) this.#lose(this.context.hide(plainError(error)), undefined, []);
      else if (this.#open.delete(key)) {
        this.out(`${text}\n`);
        this.checkIdle();
      }
    });
    return true;
  }

  #close(key: string, { result }: McpAnswer): void {
    const { method } = this.#open.get(key) ?? {};
    this.#open.delete(key);
    if (method !== undefined && result !== undefined && !isOfGreeting(method)) this.#hasWorked = true;
  }
}

let probes = 0;

const streamEnded: FailureFacts = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The stream of the server ended',
  outcome: 'unknown',
};

const notAccepted: FailureFacts = {
  kind: 'timeout',
  message: `The server did not accept the message within ${formatDuration(acceptMs)}`,
  outcome: 'unknown',
};
