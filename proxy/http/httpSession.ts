import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Clock, Timer } from '../../src/policy/face.ts';
import { errorAnswer, requestLine, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpAnswer,
  type McpId,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  fieldsOf,
  readMessage,
} from '../../src/protocol/mcp/face.ts';
import { progressKey } from '../wire/requestTraits.ts';
import { AnswerSink } from './answerSink.ts';
import { readEventId, ReplayBuffer, SessionStream } from './sessionStreams.ts';
import { headerOf, refuse, transportError } from './requestChecks.ts';
import type { Listener, ServerLines } from '../wire/serverLines.ts';

interface HttpSessionOptions {
  readonly id: string;
  readonly clock: Clock;
  /** Without a request or an open stream for so long it ends, in ms. */
  readonly idleMs: number;
  /** True where its server has no other clients, so that one that reads slowly may hold it up. */
  readonly alone: boolean;
  readonly connect: (listener: Listener) => Pick<ServerLines, 'send' | 'end' | 'closed'>;
  /** Told once, when it is over, whoever ended it. */
  readonly ended: (session: HttpSession) => void;
}

/** The first revision whose streams can be resumed. */
const firstResumable = '2025-03-26';
/** Time that a stream of a revision without empty events may say nothing before it says where to resume it, in ms. */
const unnamedMs = 5000;
/** POSTs of one session without an answer. */
const mostAsking = 1000;

/**
 * A session of the era with a handshake: one client, its streams, and the server behind them. That a connection is cut cancels nothing: what
 * is said meanwhile is kept for a while, and told when the client resumes.
 */
export class HttpSession implements Listener {
  readonly id: string;
  /** Resolves when its server has ended. */
  readonly closed: Promise<void>;
  readonly #options: HttpSessionOptions;
  readonly #server: Pick<ServerLines, 'send' | 'end'>;
  readonly #replay: ReplayBuffer;
  readonly #standing: SessionStream;
  /** All that a client may resume. */
  readonly #streams = new Map<number, SessionStream>();
  /** Streams that have requests without an answer, in order. */
  readonly #asking = new Set<SessionStream>();
  /** Stream that the answer to a request goes to, and its progress. */
  readonly #byRequest = new Map<string, { readonly id: McpId; readonly stream: SessionStream }>();
  readonly #byToken = new Map<string, SessionStream>();
  readonly #tokens = new Map<string, string>();
  #handshake: string | undefined = undefined;
  #version = '';
  #lastStream = 0;
  #hadStanding = false;
  #usedAt = 0;
  #ending = false;
  #over = false;
  #idle: Timer | undefined = undefined;
  #room: (() => void)[] = [];

  constructor(options: HttpSessionOptions) {
    this.id = options.id;
    this.#options = options;
    this.#replay = new ReplayBuffer(options.clock, (stream) => this.#forget(stream));
    this.#standing = new SessionStream(0, this.#replay);
    this.#streams.set(0, this.#standing);
    const server = options.connect(this);
    this.#server = server;
    this.closed = server.closed;
  }

  get isBusy(): boolean {
    return this.#byRequest.size > 0;
  }

  /** Since when a client that had a standing stream has had none, and asked for nothing, in monotonic ms; undefined while it is there. */
  get leftAt(): number | undefined {
    const isHere = !this.#hadStanding || this.#standing.isOpen || this.isBusy;
    return isHere ? undefined : this.#usedAt;
  }

  /** Takes the messages of a POST and answers it. @param text - the messages, on one line. */
  async post(messages: readonly McpMessage[], text: string, response: ServerResponse): Promise<void> {
    const requests = messages.filter((message): message is McpRequest => message.kind === 'request');
    if (requests.length === 0) {
      this.#touch();
      await this.#server.send(text);
      response.writeHead(202).end();
      return;
    }
    const taken = requests.find(
      ({ key }, at) => this.#byRequest.has(key) || requests.some((other, before) => before < at && other.key === key),
    );
    if (taken !== undefined) {
      const message = 'There is a request of this id already';
      return refuse(response, { status: 400, code: rpcErrors.invalidRequest, message }, taken.id);
    }
    if (this.#asking.size >= mostAsking) {
      const message = `The session has ${mostAsking} requests without an answer`;
      return refuse(response, { status: 503, code: transportError, message });
    }
    this.#open(requests, response);
    await this.#server.send(text);
  }

  /** Opens the standing stream, or resumes one. */
  get(headers: IncomingHttpHeaders, response: ServerResponse): void {
    const lastEvent = headerOf(headers, 'last-event-id');
    const from = lastEvent === undefined ? undefined : readEventId(lastEvent);
    const stream =
      lastEvent === undefined ? this.#standing : from === undefined ? undefined : this.#streams.get(from.stream);
    if (stream === undefined || (from !== undefined && !stream.canResume(from.event))) {
      const message = 'What came after this event is not kept any more';
      return refuse(response, { status: 400, code: transportError, message });
    }
    if (stream === this.#standing) this.#hadStanding = true;
    this.#attach(stream, response, 'stream');
    if (from === undefined) stream.sendUnwritten();
    else stream.sendAfter(from.event);
    if (stream !== this.#standing && stream.pending.size === 0) stream.end();
  }

  /** Ends the session and its server; what is under way may still be answered. */
  end(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#server.end();
    this.#options.ended(this);
  }

  heard(message: McpMessage, text: string): void {
    if (message.kind === 'answer') this.#answered(message, text);
    else if (message.kind === 'notification') this.#streamOf(message).send(text);
    else if (message.kind === 'request') this.#nearest().send(text);
    this.#touch();
  }

  over(): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.clock.clearTimeout(this.#idle);
    for (const { id } of [...this.#byRequest.values()]) {
      const text = errorAnswer(id, transportError, 'The session has ended').trimEnd();
      this.#answered(readMessage(text) as McpAnswer, text);
    }
    for (const stream of this.#streams.values()) stream.end();
    this.#wake();
    this.end();
  }

  room(): Promise<void> | undefined {
    if (!this.#options.alone || !this.#isFull()) return undefined;
    return new Promise((resolve) => this.#room.push(resolve));
  }

  #open(requests: readonly McpRequest[], response: ServerResponse): void {
    const stream = new SessionStream(++this.#lastStream, this.#replay);
    this.#streams.set(stream.number, stream);
    this.#asking.add(stream);
    for (const { id, key, method, params } of requests) {
      stream.pending.add(key);
      this.#byRequest.set(key, { id, stream });
      const token = progressKey(fieldsOf(params['_meta']));
      if (token !== undefined) {
        this.#byToken.set(token, stream);
        this.#tokens.set(key, token);
      }
      if (method === 'initialize') this.#handshake = key;
    }
    const isHandshake = this.#handshake !== undefined && stream.pending.has(this.#handshake);
    this.#attach(stream, response, isHandshake ? 'either' : 'soon');
  }

  #attach(stream: SessionStream, response: ServerResponse, as: 'stream' | 'either' | 'soon'): void {
    const { clock, id } = this.#options;
    // Older clients take the empty event for a message, and some end the session over it.
    const isPrimed = as !== 'either' && this.#version >= '2025-11-25';
    const name = (): void => {
      if (isPrimed || this.#version < firstResumable) return;
      clock.setTimeout(() => this.#name(stream), unnamedMs);
    };
    const sink = new AnswerSink({
      clock,
      response,
      as,
      first: isPrimed ? stream.lastId : undefined,
      begun: name,
      sessionId: id,
      left: () => {
        stream.detach(sink);
        this.#wake();
        this.#touch();
      },
      drained: () => this.#wake(),
    });
    stream.attach(sink, isPrimed);
    if (as === 'stream') name();
    this.#touch();
  }

  /** Says where to resume a stream that has said nothing yet, by the one message that asks for nothing. Behind a session nobody takes the answer for his. */
  #name(stream: SessionStream): void {
    if (this.#over || stream.hasSpoken || !stream.isOpen) return;
    stream.send(requestLine(`unwedge-stream-${stream.number}`, 'ping', undefined).trimEnd());
  }

  #answered(message: McpAnswer, text: string): void {
    const { key } = message;
    const stream = key === undefined ? undefined : this.#byRequest.get(key)?.stream;
    // It could not read something: whose it was nobody knows.
    if (key === undefined) this.#nearest().send(text);
    if (key === undefined || stream === undefined) return;
    this.#byRequest.delete(key);
    const token = this.#tokens.get(key);
    this.#tokens.delete(key);
    if (token !== undefined) this.#byToken.delete(token);
    stream.pending.delete(key);
    if (stream.pending.size === 0) this.#asking.delete(stream);
    if (key === this.#handshake) this.#shookHands(message);
    if (!stream.send(text, stream.pending.size === 0)) this.#streams.delete(stream.number);
  }

  #shookHands({ result }: McpAnswer): void {
    this.#handshake = undefined;
    const version = result?.['protocolVersion'];
    if (typeof version === 'string') this.#version = version;
    // Nobody has a session of it.
    if (result === undefined && this.#version === '') this.end();
  }

  /** Finds where a notification goes: to the request it is about, else where nothing is asked for. */
  #streamOf({ method, params }: McpNotification): SessionStream {
    const token = method === 'notifications/progress' ? progressKey(params) : undefined;
    const own = token === undefined ? undefined : this.#byToken.get(token);
    if (own !== undefined) return own;
    const isUnrelated = method.endsWith('/list_changed') || method === 'notifications/resources/updated';
    return isUnrelated && this.#standing.isOpen ? this.#standing : this.#nearest();
  }

  /** On stdio a message names no request. Beside the only one it surely belongs to that; beside several to the client as a whole. */
  #nearest(): SessionStream {
    const [only] = this.#asking;
    if (only !== undefined && this.#asking.size === 1) return only;
    if (this.#standing.isOpen) return this.#standing;
    return [...this.#asking].findLast(({ isOpen }) => isOpen) ?? this.#standing;
  }

  /** Nothing is kept of a stream: if it is over, nobody can resume it. */
  #forget(number: number): void {
    const stream = this.#streams.get(number);
    if (stream !== undefined && stream !== this.#standing && stream.pending.size === 0) this.#streams.delete(number);
  }

  #isFull(): boolean {
    if (this.#standing.isFull) return true;
    for (const stream of this.#asking) if (stream.isFull) return true;
    return false;
  }

  #wake(): void {
    if (this.#room.length === 0 || (!this.#over && this.#isFull())) return;
    for (const resolve of this.#room.splice(0)) resolve();
  }

  /** It was used just now. */
  #touch(): void {
    this.#usedAt = this.#options.clock.now();
    if (this.#idle === undefined) this.#watch(this.#options.idleMs);
  }

  #watch(delayMs: number): void {
    const { clock, idleMs } = this.#options;
    if (this.#over) return;
    this.#idle = clock.setTimeout(() => {
      if (this.isBusy || this.#standing.isOpen) this.#usedAt = clock.now();
      const leftMs = this.#usedAt + idleMs - clock.now();
      if (leftMs > 0) this.#watch(leftMs);
      else this.end();
    }, delayMs);
  }
}
