import type { FailureFacts } from '../../../policy/failures/failure.ts';
import {
  idKey,
  type McpAnswer,
  type McpId,
  type McpMessage,
  type McpParams,
  type McpRequest,
  messagesOf,
  readMessage,
} from '../../../protocol/mcp/message.ts';
import { withId } from '../../../protocol/mcp/jsonSpans.ts';
import { errorAnswer } from '../../../protocol/jsonRpc.ts';

/** A line that is to be sent, read. */
export interface Outgoing {
  readonly text: string;
  readonly message: McpMessage;
  readonly requests: readonly McpRequest[];
}

export function readOutgoing(text: string): Outgoing {
  const message = readMessage(text);
  const all = message.kind === 'batch' ? message.items : [message];
  return { text, message, requests: all.filter((each) => each.kind === 'request') };
}

/** Sink for the messages that came in answer to some requests. */
export interface MessageSink {
  /** Takes one line, its end included. */
  out(line: string): void;
  /** Tells whether another request of this key waits for its answer. */
  isOpenElsewhere(key: string): boolean;
  /** An answer came, as it was sent. */
  answered?(request: McpRequest, message: McpMessage & { kind: 'answer' }): void;
  /**
   * An error came that may mean that the session is gone. Resolves with what it means for its request when it does, with undefined when it is an
   * answer; undefined where it cannot mean that. Never rejects.
   */
  doubt?(
    request: McpRequest,
    message: McpMessage & { kind: 'answer' },
    mark: number,
  ): Promise<FailureFacts | undefined> | undefined;
  /** A request has no answer, and will get none. */
  failed?(id: McpId, facts: FailureFacts): void;
}

/** The requests of one line until each has its answer, and what comes in answer to them. */
export class OpenRequests {
  readonly #open = new Map<string, McpRequest>();
  readonly #sink: MessageSink;
  /** As of when they were sent. */
  readonly mark: number;
  /** Requests whose errors are looked into. */
  readonly #doubted = new Map<string, Promise<void>>();
  #flaw: string | undefined = undefined;
  static #misdirected = 0;

  /** @param mark - as of when the requests are sent, for `doubt`. */
  constructor(requests: readonly McpRequest[], sink: MessageSink, mark: number) {
    for (const request of requests) this.#open.set(request.key, request);
    this.#sink = sink;
    this.mark = mark;
  }

  /** Resolves when no error is looked into any more; undefined when none is. */
  get settled(): Promise<unknown> | undefined {
    return this.#doubted.size === 0 ? undefined : Promise.all(this.#doubted.values());
  }

  get size(): number {
    return this.#open.size;
  }

  get ids(): readonly McpId[] {
    return [...this.#open.values()].map(({ id }) => id);
  }

  /** Text that came and was no message; undefined when all was. */
  get flaw(): string | undefined {
    return this.#flaw;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  forget(key: string): void {
    this.#open.delete(key);
  }

  clear(): void {
    this.#open.clear();
  }

  /** Takes what came: one message or a batch. */
  take(text: string): void {
    const message = readMessage(text);
    if (message.kind === 'garbage' || message.kind === 'foreign') {
      this.#flaw = message.kind === 'garbage' ? 'what came is no JSON' : 'what came is no message';
    } else for (const { item, own } of messagesOf(message, text)) this.#takeOne(item, own);
  }

  /**
   * Answers the only request with the error of a refusal, which has been looked into: one that names it, or none, as servers do that refuse a request
   * unread. False when there is none such.
   */
  takeRefusal(text: string): boolean {
    const message = readMessage(text);
    const [only] = this.#open.values();
    if (message.kind !== 'answer' || message.error === undefined || only === undefined || this.size > 1) return false;
    const answer = message.key === undefined ? errorFor(only.id, message.error) : text;
    if (answer === undefined || (message.key !== undefined && message.key !== only.key)) return false;
    this.#close(only, message, answer);
    return true;
  }

  #takeOne(message: McpMessage, text: string): void {
    if (message.kind !== 'answer' || message.key === undefined) {
      this.#sink.out(`${text}\n`);
      return;
    }
    const request = this.#doubted.has(message.key) ? undefined : this.#open.get(message.key);
    if (request !== undefined) {
      const doubt = message.error === undefined ? undefined : this.#sink.doubt?.(request, message, this.mark);
      if (doubt === undefined) this.#close(request, message, text);
      else this.#doubt(request, message, text, doubt);
      return;
    }
    // It would end a request that was sent elsewhere. Under an id that nobody uses it counts as one that came too late.
    const isMisdirected = this.#doubted.has(message.key) || this.#sink.isOpenElsewhere(message.key);
    this.#sink.out(`${isMisdirected ? withId(text, `misdirected ${++OpenRequests.#misdirected}`) : text}\n`);
  }

  #close(request: McpRequest, message: McpAnswer, text: string): void {
    this.#open.delete(request.key);
    this.#sink.answered?.(request, message);
    this.#sink.out(`${text}\n`);
  }

  #doubt(request: McpRequest, message: McpAnswer, text: string, doubt: Promise<FailureFacts | undefined>): void {
    const { key, id } = request;
    const settled = doubt.then((facts) => {
      this.#doubted.delete(key);
      // Nobody waits for it any more.
      if (!this.#open.has(key)) return;
      if (facts === undefined) this.#close(request, message, text);
      else {
        this.#open.delete(key);
        this.#sink.failed?.(id, facts);
      }
    });
    this.#doubted.set(key, settled);
  }
}

/** An error under the id of a request; undefined where it is none of the protocol. */
function errorFor(id: McpId, { code, message, data }: McpParams): string | undefined {
  if (typeof code !== 'number' || typeof message !== 'string') return undefined;
  return errorAnswer(id, code, message, data as object).trimEnd();
}

/** The request that a notification calls off. */
export function cancelledKey({ message }: Outgoing): string | undefined {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined;
  return idKey(message.params['requestId']);
}
