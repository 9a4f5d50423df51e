import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { ClientMessage } from './faultyMcpAnswers.ts';
import { bodyOf } from './loopback.ts';

/** The version of the second era. */
export const statelessVersion = '2026-07-28';

/** A request that arrived, as far as tests look at it. */
export interface ReceivedMcpRequest {
  readonly method: string;
  /**
   * Kind of it, in the words of a rule: the method of its message, `GET`, `resume` or `DELETE`; `reply` is a client's answer to a question of the server,
   * `metadata` a request for the metadata of its authorization, `other` anything else.
   */
  readonly on: string;
  /** The tool that it calls. */
  readonly tool?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Empty where there was none. */
  readonly body: string;
  /** The client gave it up before its answer had ended. */
  readonly aborted: boolean;
}

/** A request and the place of its answer, while they pass through the server. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly on: string;
  readonly body: string;
  /** The message of a POST, where it is a request or a notification. */
  readonly message?: ClientMessage | undefined;
  /** The client's reply to the question with this ID. */
  readonly reply?: { readonly id: unknown; readonly content: object } | undefined;
}

/** Requests that came, and what their clients made of the answers. */
export class McpHttpRequests {
  readonly received: ReceivedMcpRequest[] = [];
  /** Requests given up by their clients. */
  aborted = 0;
  readonly #open = new Set<ServerResponse>();
  readonly #endedByUs = new WeakSet<ServerResponse>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Answers that have not ended. */
  get open(): number {
    return this.#open.size;
  }

  count(on: string): number {
    return this.received.filter((request) => matchesOn(on, request)).length;
  }

  /** Notes a request when it has arrived whole, and its end later. */
  note({ request, response, on, message, body }: Exchange): void {
    const tool = on === 'tools/call' ? message?.params['name'] : undefined;
    const received = {
      method: request.method ?? '',
      on,
      ...(typeof tool === 'string' && { tool }),
      headers: request.headers,
      body,
      aborted: false,
    };
    this.received.push(received);
    this.#open.add(response);
    response.on('close', () => {
      this.#open.delete(response);
      received.aborted = !response.writableEnded && !this.#endedByUs.has(response);
      if (received.aborted) this.aborted += 1;
      this.#changed();
    });
    // In a turn of its own: who waits for a request may take the server down at once.
    setImmediate(this.#changed);
  }

  /** The end that this answer, or any, comes to next is ours. */
  abandon(response?: ServerResponse): void {
    for (const each of response === undefined ? this.#open : [response]) this.#endedByUs.add(each);
  }
}

/** Tells whether a request is one of those that a word of a rule means. */
export function matchesOn(on: string, request: { readonly method?: string | undefined; readonly on: string }): boolean {
  return on === 'any' || on === request.on || (on === 'POST' && request.method === 'POST');
}

/** Reads a request to its end. Undefined when its client gave it up before. */
export async function readExchange(request: IncomingMessage, response: ServerResponse): Promise<Exchange | undefined> {
  const { body, isWhole } = await bodyOf(request);
  if (!isWhole) return undefined;
  const [path = '/'] = (request.url ?? '/').split('?');
  return { request, response, path, body, ...kindOf(request, path, body) };
}

function kindOf(request: IncomingMessage, path: string, body: string): Pick<Exchange, 'on' | 'message' | 'reply'> {
  if (path.startsWith('/.well-known/')) return { on: 'metadata' };
  switch (request.method ?? '') {
    case 'GET':
      return { on: request.headers['last-event-id'] === undefined ? 'GET' : 'resume' };
    case 'DELETE':
      return { on: 'DELETE' };
    case 'POST': {
      const parsed = parse(body);
      if (typeof parsed.method !== 'string') return { on: 'reply', reply: { id: parsed.id, content: parsed } };
      const { id, method, params = {} } = parsed;
      return { on: method, message: { id, method, params } };
    }
    default:
      return { on: 'other' };
  }
}

function parse(body: string): Partial<ClientMessage> {
  try {
    return JSON.parse(body) as Partial<ClientMessage>;
  } catch {
    return {};
  }
}
