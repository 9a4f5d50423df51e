import { onTestFinished } from 'vitest';

/** What is read of a message, as docs/serve.md has it. */
export interface Message {
  readonly id: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed' | 'declined' | 'dead';
  readonly result?: { readonly outcome?: string; readonly value?: { readonly content?: readonly { text: string }[] } };
  readonly error?: string;
  readonly durable?: boolean;
  readonly duplicate?: boolean;
}

export interface ServerSentEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What is read of why a session waits. */
interface Why {
  readonly turn?: { readonly message: string };
  readonly calls: readonly {
    readonly call: string;
    readonly progress?: { readonly phase: string };
    readonly target?: { readonly process?: { readonly pid?: number } };
  }[];
}

interface Sending {
  /** As `Idempotency-Key`. */
  readonly key?: string;
  readonly wait?: string;
}

/** A client of one session, written from docs/serve.md alone: `fetch`, and the lines of server-sent events. */
export class PlainClient {
  readonly #origin: string;
  readonly #token: string;
  readonly #session: string;

  constructor({ origin, token }: { readonly origin: string; readonly token: string }, session: string) {
    this.#origin = origin;
    this.#token = token;
    this.#session = session;
  }

  async open(): Promise<this> {
    await this.#ask('/v1/sessions', { id: this.#session });
    return this;
  }

  /** Has a tool called. */
  send(server: string, tool: string, input: object, { key, wait }: Sending = {}): Promise<Message> {
    const body = { tool: { server, name: tool, arguments: input } };
    return this.#ask(
      `/v1/sessions/${this.#session}/messages${wait === undefined ? '' : `?wait=${wait}`}`,
      body,
      key === undefined ? {} : { 'Idempotency-Key': key },
    );
  }

  message(id: string): Promise<Message> {
    return this.#ask(`/v1/sessions/${this.#session}/messages/${id}`);
  }

  why(): Promise<Why> {
    return this.#ask(`/v1/sessions/${this.#session}/why`);
  }

  cancel(): Promise<{ readonly ok: boolean }> {
    return this.#ask(`/v1/sessions/${this.#session}/cancel`, { why: 'it takes too long' });
  }

  async history(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { history } = await this.#ask<{ history: Readonly<Record<string, unknown>>[] }>(
      `/v1/sessions/${this.#session}/history`,
    );
    return history;
  }

  /**
   * Reads events until the reader leaves the loop. Resolves once the gateway hears it.
   * @param last - id of the last event that was had.
   */
  async events(last?: string): Promise<AsyncGenerator<ServerSentEvent, undefined>> {
    const reading = new AbortController();
    onTestFinished(() => reading.abort());
    const headers = { Authorization: `Bearer ${this.#token}`, ...(last !== undefined && { 'Last-Event-ID': last }) };
    const { body } = await fetch(`${this.#origin}/v1/sessions/${this.#session}/events`, {
      ...{ headers, signal: reading.signal },
    });
    const lines = linesOf(body as unknown as AsyncIterable<Uint8Array>);
    // The comment that comes at once.
    await lines.next();
    return eventsIn(lines, () => reading.abort());
  }

  /** Waits for the end of a message, by events. */
  async ended(id: string): Promise<Message> {
    const events = await this.events();
    try {
      for (;;) {
        const message = await this.message(id);
        if (message.state !== 'waiting' && message.state !== 'running') return message;
        await next(events, 'session.turn_ended');
      }
    } finally {
      await events.return(undefined);
    }
  }

  async #ask<T>(path: string, body?: object, more: Readonly<Record<string, string>> = {}): Promise<T> {
    const response = await fetch(`${this.#origin}${path}`, {
      headers: { Authorization: `Bearer ${this.#token}`, ...more },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(answer as { error: string }).error}`);
    return answer as T;
  }
}

/** The next event of a type, and what it took to get there. */
export async function next(
  events: AsyncGenerator<ServerSentEvent, undefined>,
  type: string,
): Promise<readonly ServerSentEvent[]> {
  const seen: ServerSentEvent[] = [];
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error(`The events ended before ${type}`);
    seen.push(value);
    if (value.type === type) return seen;
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function* eventsIn(
  lines: AsyncGenerator<string, undefined>,
  leave: () => void,
): AsyncGenerator<ServerSentEvent, undefined> {
  let [id, type, data] = ['', '', ''];
  try {
    for await (const line of lines) {
      const [, field, value = ''] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (field === 'id') id = value;
      if (field === 'event') type = value;
      if (field === 'data') data = value;
      if (line !== '' || data === '') continue;
      yield { id, type, data: JSON.parse(data) as ServerSentEvent['data'] };
      [type, data] = ['', ''];
    }
  } finally {
    leave();
  }
}
