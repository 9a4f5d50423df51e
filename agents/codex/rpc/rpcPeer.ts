import type { Clock } from '../../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../../src/policy/failures/face.ts';
import { parsedJson } from '../../../src/policy/text/face.ts';
import {
  type RpcError,
  type RpcGarbage,
  type RpcId,
  type RpcMessage,
  createLineSplitter,
  parseRpc,
  rpcErrors,
} from '../../../src/protocol/face.ts';
import {
  type PendingRequest,
  pendingRequest,
  type RequestEnd,
  type RequestOptions,
  RpcResponseError,
  unreadable,
  unsent,
  unwritable,
} from './pendingRequest.ts';

/** A request of the other side. The first answer counts; `false` when it could not be sent, or one was sent before. */
export interface IncomingRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
  answer(result: unknown): boolean;
  fail(error: RpcError): boolean;
}

/** Listeners of a connection. What a callback throws is passed to `threw`, and goes no further. */
export interface RpcPeerListener {
  /** @param bytes - about as long as its line. */
  notified(method: string, params: unknown, bytes: number): void;
  asked(request: IncomingRequest): void;
  /** A line that is no message, an answer that nobody waits for, or the rest of a line at the end of the stream. */
  strange(what: 'malformed' | 'unknown_answer' | 'partial', text: string): void;
  /** So many lines in a row are no messages that nothing more is asked. */
  unhealthy(lines: number): void;
  /** A message is longer than may be. */
  tooLarge(): void;
  requested?(id: number, method: string, params: unknown): void;
  ended?(end: RequestEnd): void;
  /** Every line as it goes over the wire, for debugging. */
  line?(direction: 'sent' | 'received', text: string): void;
  threw(error: unknown): void;
}

interface RpcPeerOptions {
  readonly clock: Clock;
  /** Takes whole lines. False when nobody reads them any more; the owner of the pipe has noticed that by then. */
  readonly write: (line: string) => boolean;
  readonly maxMessageBytes: number;
  readonly maxInFlight: number;
  /** Lines in a row that are no messages, before it counts as unhealthy. */
  readonly maxMalformed: number;
  /** Reads the meaning of an error response. */
  readonly readError: (error: RpcResponseError) => FailureFacts;
  readonly listener: RpcPeerListener;
}

/** Longest part of a strange line that is shown, in characters. */
const shownCharacters = 200;

/** Side of a conversation in JSON-RPC, a message a line, that leaves `jsonrpc` out as Codex does. */
export class RpcPeer {
  readonly #options: RpcPeerOptions;
  readonly #splitter: ReturnType<typeof createLineSplitter>;
  readonly #pending = new Map<RpcId, PendingRequest>();
  #lastId = 0;
  #malformed = 0;
  #ending = false;
  #closed: FailureFacts | undefined = undefined;

  constructor(options: RpcPeerOptions) {
    this.#options = options;
    this.#splitter = createLineSplitter({
      maxBytes: options.maxMessageBytes,
      onLine: (line) => this.#receive(line),
      onTooLong: () => {
        if (this.#closed === undefined) this.#tell(() => options.listener.tooLarge());
      },
    });
  }

  get inFlight(): number {
    return this.#pending.size;
  }

  get healthy(): boolean {
    return this.#closed === undefined && this.#malformed < this.#options.maxMalformed;
  }

  /** Takes a chunk that the other side wrote. */
  push(chunk: Buffer): void {
    this.#splitter.push(chunk);
  }

  /** The other side writes no more. */
  end(): void {
    this.#ending = true;
    this.#splitter.end();
  }

  /** Written before it returns. Rejects with an {@link AttemptError} whose facts say what is known. */
  request(method: string, params: unknown, { limitMs, signal, urgent = false }: RequestOptions = {}): Promise<unknown> {
    const refused = this.#refusal(method, signal, urgent);
    if (refused !== undefined) return Promise.reject(new AttemptError(refused));
    const { clock, listener } = this.#options;
    const id = ++this.#lastId;
    const request = pendingRequest({ id, method, limitMs }, signal, clock, (end) => {
      this.#pending.delete(id);
      this.#tell(() => listener.ended?.(end));
    });
    this.#pending.set(id, request);
    this.#tell(() => listener.requested?.(id, method, params));
    try {
      if (!this.#send({ id, method, params })) request.fail('lost', unsent(method));
    } catch (error) {
      request.fail('failed', unwritable(method, error));
    }
    return request.answer;
  }

  notify(method: string): boolean {
    return this.#send({ method });
  }

  /** Ends what is in flight for this reason; nothing is sent or told any more. The first reason stays. */
  close(facts: FailureFacts): void {
    if (this.#closed !== undefined) return;
    this.#closed = facts;
    for (const request of [...this.#pending.values()]) request.fail('lost', facts);
  }

  #refusal(method: string, signal: AbortSignal | undefined, urgent: boolean): FailureFacts | undefined {
    const { maxInFlight, maxMalformed } = this.#options;
    if (this.#closed !== undefined) return { ...this.#closed, outcome: 'not_started' };
    if (signal?.aborted === true) {
      return { kind: 'cancelled', message: 'Cancelled by the caller', outcome: 'not_started', cause: signal.reason };
    }
    if (urgent) return undefined;
    if (this.#malformed >= maxMalformed) {
      const message = `${method} was not sent: the last ${this.#malformed} lines of the other side are no messages`;
      return { kind: 'unavailable', message, outcome: 'not_started' };
    }
    if (this.#pending.size < maxInFlight) return undefined;
    const message = `${method} was not sent: ${maxInFlight} requests wait for their answers`;
    return { kind: 'too_many_requests', message, outcome: 'not_started' };
  }

  #receive(line: string): void {
    const { listener } = this.#options;
    if (this.#closed !== undefined || (line.length < 100 && line.trim() === '')) return;
    if (listener.line !== undefined) this.#tell(() => listener.line?.('received', line));
    const message = parseRpc(line);
    if (message.kind === 'garbage') this.#garbage(message, line);
    else {
      this.#malformed = 0;
      this.#take(message, line.length);
    }
  }

  #take(message: Exclude<RpcMessage, RpcGarbage>, bytes: number): void {
    const { listener, readError } = this.#options;
    switch (message.kind) {
      case 'notification':
        this.#tell(() => listener.notified(message.method, message.params, bytes));
        return;
      case 'request':
        this.#tell(() => listener.asked(this.#incoming(message.id, message.method, message.params)));
        return;
      case 'result':
      case 'error': {
        // A string is never the answer to a number: ids are compared with their type.
        const request = message.id === null ? undefined : this.#pending.get(message.id);
        if (request === undefined) this.#strange('unknown_answer', `id ${String(message.id).slice(0, 50)}`);
        else if (message.kind === 'result') request.answered(message.result);
        else request.fail('failed', readError(new RpcResponseError(message.error, request.method, request.id)));
      }
    }
  }

  #garbage({ reason, id }: RpcGarbage, line: string): void {
    const { listener, maxMalformed } = this.#options;
    if (this.#ending) {
      this.#strange('partial', line);
      return;
    }
    this.#malformed++;
    this.#strange('malformed', `${reason}: ${line}`);
    // A call that cannot be read is no answer, whatever its id.
    const isCall = id === null || 'method' in (parsedJson(line) as object);
    const request = isCall ? undefined : this.#pending.get(id);
    request?.fail('failed', unreadable(request.method));
    if (this.#malformed === maxMalformed) this.#tell(() => listener.unhealthy(maxMalformed));
  }

  #incoming(id: RpcId, method: string, params: unknown): IncomingRequest {
    let answered = false;
    const reply = (message: object): boolean => {
      if (answered) return false;
      answered = true;
      return this.#sendAny(id, message);
    };
    return {
      id,
      method,
      params,
      answer: (result) => reply({ id, result: result ?? null }),
      fail: (error) => reply({ id, error }),
    };
  }

  /** Sends an answer also for a value that cannot be written as JSON: the other side waits. */
  #sendAny(id: RpcId, message: object): boolean {
    try {
      return this.#send(message);
    } catch {
      return this.#send({ id, error: { code: rpcErrors.internal, message: 'The answer cannot be written as JSON' } });
    }
  }

  #send(message: object): boolean {
    const { listener, write } = this.#options;
    if (this.#closed !== undefined) return false;
    const line = JSON.stringify(message);
    if (listener.line !== undefined) this.#tell(() => listener.line?.('sent', line));
    return write(`${line}\n`);
  }

  #strange(what: 'malformed' | 'unknown_answer' | 'partial', text: string): void {
    this.#tell(() => this.#options.listener.strange(what, text.slice(0, shownCharacters)));
  }

  #tell(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#options.listener.threw(error);
    }
  }
}
