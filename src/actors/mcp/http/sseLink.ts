import { formatDuration } from '../../../policy/duration.ts';
import { AttemptError, type FailureFacts } from '../../../policy/failure.ts';
import { type McpId, readMessage } from '../../../protocol/mcp/message.ts';
import { dropBody } from '../../../streams/readBody.ts';
import type { ServerSentEvent } from '../../../streams/serverSentEvents.ts';
import { isEventStream, messageText, readEventStream } from './eventStream.ts';
import { brokenFacts, lostAnswer, refusalText, statusFacts } from './httpFailure.ts';
import type { Outgoing } from './openRequests.ts';
import { RemoteLink } from './remoteLink.ts';
import { isNoServer, wrongAddress } from './wrongAddress.ts';

/** How long a server may take to accept a message, in ms. */
const acceptMs = 30_000;

/**
 * A server that is spoken to by the transport of 2024: one stream brings all it says, messages go to another address by POST. The session lives
 * as long as the stream. The client's own transport connects again without a handshake, which no server takes, and gives up for good when the
 * server is away for a moment: here the end of the stream is the end of the link, and the next one is a session of its own.
 */
export class SseLink extends RemoteLink {
  readonly #abort = new AbortController();
  readonly #open = new Map<string, McpId>();
  readonly #posts = new Set<AbortController>();
  #endpoint: string | undefined = undefined;

  protected override get takesRequests(): boolean {
    return this.#endpoint !== undefined;
  }

  protected override get isBusy(): boolean {
    return this.#open.size > 0;
  }

  protected override async open(): Promise<void> {
    this.context.access.checkHeld();
    try {
      await this.#connect();
    } catch (error) {
      // Whether this is the transport it speaks is to be found out anew.
      if (this.context.settings.transport === 'auto') this.context.transport = undefined;
      throw new AttemptError({ ...brokenFacts(error, this.scope), outcome: 'not_started' });
    }
  }

  protected override async send({ text, requests }: Outgoing): Promise<void> {
    for (const { key, id } of requests) this.#open.set(key, id);
    const own = new AbortController();
    this.#posts.add(own);
    const limit = this.clock.setTimeout(() => own.abort(), acceptMs, { running: true });
    try {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const post = { method: 'POST', url: this.#endpoint, headers, body: text, signal: own.signal } as const;
      const response = await this.context.requester.send(post);
      if (response.ok) dropBody(response);
      else
        this.#refused(requests, statusFacts(response, await refusalText(response, this.clock, own.signal), this.scope));
    } catch (error) {
      const facts = own.signal.aborted ? notAccepted : brokenFacts(error, this.scope);
      this.#refused(requests, facts);
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
    // The stream stands since before the handshake.
  }

  #refused(requests: Outgoing['requests'], facts: FailureFacts): void {
    if (this.end !== undefined) return;
    // It knows this session no more: the stream is one of a server that is gone.
    if (facts.status === 404 || facts.status === 400) {
      const gone = { kind: 'crash', reason: 'connection_closed', breaker: 'ignored', outcome: 'not_started' } as const;
      const message = `The session is gone: ${facts.message}`;
      // What was refused was not begun; of what it took before nobody knows.
      const refused = new Set(requests.map(({ key }) => key));
      for (const [key, id] of this.#open) {
        if (!refused.has(key)) this.requestFailed(id, { ...lostAnswer(message), breaker: 'ignored' });
      }
      this.finish({ facts: { ...gone, status: facts.status, message } });
      return;
    }
    for (const { key, id } of requests) if (this.#open.delete(key)) this.requestFailed(id, facts);
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
    const answers = message.kind === 'batch' ? message.items : [message];
    for (const each of answers) if (each.kind === 'answer' && each.key !== undefined) this.#open.delete(each.key);
    this.out(`${text}\n`);
    this.checkIdle();
  }
}

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
