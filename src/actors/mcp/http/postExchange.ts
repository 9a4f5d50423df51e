import type { Clock, Timer } from '../../../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../../../policy/failures/failure.ts';
import type { McpId } from '../../../protocol/mcp/message.ts';
import type { ServerSentEvent } from '../../../streams/serverSentEvents.ts';
import { bodyAtHand, dropBody, readBody, type HttpAnswer } from '../../../streams/readBody.ts';
import { isEventStream, messageText, readEventStream } from './eventStream.ts';
import { brokenFacts, type FailureScope, lostAnswer, noAnswer, refusalText, tooLarge } from './httpFailure.ts';
import { type MessageSink, OpenRequests, type Outgoing } from './openRequests.ts';
import { resumeAnswer } from './resumption.ts';

/** Needs of one exchange from the link it belongs to. */
export interface ExchangeHost {
  readonly clock: Clock;
  readonly scope: FailureScope;
  readonly maxMessageBytes: number;
  readonly sink: MessageSink;
  /** Waited for before more is read of a stream. */
  readonly flow: () => Promise<void> | undefined;
  /** Sends a line. */
  post(outgoing: Outgoing, signal: AbortSignal, mark: number): Promise<HttpAnswer>;
  /** Opens a stream for what follows this event; where there is such a thing. */
  resume(lastEventId: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** False where there is no such thing. */
  mayResume(): boolean;
  /** Handles a refusal that is no answer: gives the facts of its requests, or undefined where they are told with the end of the link. */
  refused(
    outgoing: Outgoing,
    response: HttpAnswer,
    text: string,
    requests: OpenRequests,
  ): Promise<FailureFacts | undefined>;
  /** Gives the meaning of a reply that is no answer and may say that the session is gone; undefined when it does not. Never rejects. */
  doubt(outgoing: Outgoing, text: string, status: number | undefined, mark: number): Promise<FailureFacts | undefined>;
  failed(id: McpId, facts: FailureFacts): void;
  /** Called when a reply is of a type that no answer has; may end the link. */
  unreadable(outgoing: Outgoing, status: number, contentType: string | null): void;
}

/** Time in ms that a stream may stay open after its last answer: one that is read to its end leaves its connection to the next request. */
const lingerMs = 1000;
const utf8 = new TextDecoder();
/** Characters of what is no answer that are looked at. */
const longestWords = 2000;

/** A line on its way to the server, until each of its requests has its answer. */
export class PostExchange {
  readonly outgoing: Outgoing;
  readonly requests: OpenRequests;
  readonly #host: ExchangeHost;
  readonly #abort = new AbortController();
  #isHeard = false;
  #heard: (() => void) | undefined = undefined;
  #isHeld = false;
  #lingering: Timer | undefined = undefined;
  #lastEventId: string | undefined = undefined;
  #retryMs: number | undefined = undefined;
  /** First of the text on its stream that was no message of the protocol. */
  #strange: string | undefined = undefined;

  constructor(outgoing: Outgoing, host: ExchangeHost, mark: number) {
    this.outgoing = outgoing;
    this.#host = host;
    this.requests = new OpenRequests(outgoing.requests, host.sink, mark);
  }

  /** Resolves when it is known whether the server takes it, or nobody waits for it any more. */
  get headers(): Promise<void> {
    return this.#isHeard ? Promise.resolve() : new Promise((resolve) => (this.#heard = resolve));
  }

  /** True where it was refused for a reason that ends the link, which tells its requests. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Sends it and reads what comes. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#abort;
    try {
      const response = await this.#host.post(this.outgoing, signal, this.requests.mark);
      if (response.ok) this.#hear();
      if (signal.aborted) dropBody(response);
      else await this.#read(response);
      if (this.requests.settled !== undefined) await this.requests.settled;
    } catch (error) {
      if (!signal.aborted) this.fail(brokenFacts(error, this.#host.scope));
    } finally {
      this.#hear();
      this.#host.clock.clearTimeout(this.#lingering);
    }
  }

  /** Nobody waits for it any more. */
  abandon(): void {
    this.requests.clear();
    this.#abort.abort();
  }

  /** Its requests will get no answer. */
  fail(facts: FailureFacts): void {
    const { ids } = this.requests;
    this.requests.clear();
    for (const id of ids) this.#host.failed(id, facts);
  }

  #hear(): void {
    this.#isHeard = true;
    this.#heard?.();
  }

  async #read(response: HttpAnswer): Promise<void> {
    const { status, headers } = response;
    if (!response.ok) {
      await this.#readRefusal(response);
    } else if (this.requests.size === 0) {
      dropBody(response);
    } else if (isEventStream(response)) {
      await this.#readEvents(response);
    } else if (/^application\/(?:[\w.-]+\+)?json\b/i.test(headers.get('content-type') ?? '')) {
      await this.#readJson(response);
    } else {
      dropBody(response);
      this.#host.unreadable(this.outgoing, status, headers.get('content-type'));
      const type = headers.get('content-type')?.slice(0, 100) ?? 'no content type';
      const facts = noAnswer(`HTTP ${status}: expected JSON or a stream of events, got ${type}`, status);
      await this.#failDoubted(facts, facts.message, status);
    }
  }

  /** Handles a reply that is no answer. It finds out whether the session is gone before its requests are told. */
  async #failDoubted(facts: FailureFacts, text: string, status?: number): Promise<void> {
    if (this.requests.size === 0) return;
    const gone = await this.#host.doubt(this.outgoing, text, status, this.requests.mark);
    if (!this.#abort.signal.aborted) this.fail(gone ?? facts);
  }

  async #readRefusal(response: HttpAnswer): Promise<void> {
    const text = await refusalText(response, this.#host.clock, this.#abort.signal);
    if (this.#abort.signal.aborted) return;
    const facts = await this.#host.refused(this.outgoing, response, text, this.requests);
    if (this.requests.size === 0 || this.#abort.signal.aborted) return;
    if (facts === undefined) this.#isHeld = true;
    else this.fail(facts);
  }

  async #readJson(response: HttpAnswer): Promise<void> {
    const { maxMessageBytes: maxBytes, scope } = this.#host;
    const { bytes, end, error } =
      bodyAtHand(response, maxBytes) ?? (await readBody(response, { maxBytes, signal: this.#abort.signal }));
    if (end === 'stopped') return;
    if (end === 'full') this.fail(tooLarge(maxBytes));
    else if (end === 'broken') this.fail(brokenFacts(error, scope));
    else {
      const text = messageText(utf8.decode(bytes));
      this.requests.take(text);
      if (this.requests.settled !== undefined) await this.requests.settled;
      if (this.requests.size === 0) return;
      const { flaw } = this.requests;
      const facts = noAnswer(`The answer is malformed: ${flaw ?? 'it is of another request'}`);
      await this.#failDoubted(facts, text.slice(0, longestWords));
    }
  }

  async #readEvents(response: HttpAnswer): Promise<void> {
    const why = await this.#readStream(response);
    await this.requests.settled;
    if (this.requests.size === 0 || this.#abort.signal.aborted) return;
    const mayResume = this.#host.mayResume();
    const { flaw } = this.requests;
    const said = this.#strange;
    const gone =
      said === undefined ? undefined : await this.#host.doubt(this.outgoing, said, undefined, this.requests.mark);
    if (this.#abort.signal.aborted) return;
    if (gone !== undefined) this.fail(gone);
    else if (flaw !== undefined) this.fail(noAnswer(`The answer is malformed: ${flaw}`));
    else if (!mayResume || this.#lastEventId === undefined) await this.#failDoubted(lostAnswer(why), why);
    else {
      const lost = await resumeAnswer({
        clock: this.#host.clock,
        signal: this.#abort.signal,
        open: (lastEventId, signal) => this.#host.resume(lastEventId, signal),
        read: (resumed) => this.#readStream(resumed),
        place: () => ({ lastEventId: this.#lastEventId ?? '', retryMs: this.#retryMs }),
        isDone: () => this.requests.size === 0,
      });
      await this.requests.settled;
      const facts = lostAnswer(`${why}, and ${lost}`);
      if (lost !== undefined) await this.#failDoubted(facts, facts.message);
    }
  }

  /** @returns how it ended. @throws {@link AttemptError} when a message is too large. */
  async #readStream(response: HttpAnswer): Promise<string> {
    const { maxMessageBytes: maxBytes, flow, scope } = this.#host;
    try {
      await readEventStream(response, { maxBytes, flow, onEvent: (event) => this.#take(event) });
      return 'its stream ended before it';
    } catch (error) {
      if (error instanceof AttemptError && error.facts.reason === 'message_too_large') {
        throw new AttemptError(tooLarge(maxBytes));
      }
      return `its stream broke (${brokenFacts(error, scope).message})`;
    }
  }

  #take({ event, data, id, retry }: ServerSentEvent): void {
    if (id !== undefined) this.#lastEventId = id;
    if (retry !== undefined) this.#retryMs = retry;
    if (data === '' || this.#abort.signal.aborted) return;
    const text = messageText(data);
    const isMessage = event === undefined || event === 'message';
    if (isMessage) this.requests.take(text);
    // An error that is none of the protocol, which no answer follows.
    if (event === 'error' || this.requests.flaw !== undefined) this.#strange ??= text.slice(0, longestWords);
    if (!isMessage) return;
    const { settled } = this.requests;
    if (settled === undefined) this.#linger();
    else void settled.then(() => this.#linger());
  }

  #linger(): void {
    if (this.requests.size > 0 || this.#abort.signal.aborted) return;
    this.#lingering ??= this.#host.clock.setTimeout(() => this.#abort.abort(), lingerMs);
  }
}
