import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RpcId } from '../src/protocol/face.ts';

/** A stream of events; what its client missed is sent again to one that names the last event it has. */
interface EventStream {
  readonly events: string[];
  readonly readers: Set<ServerResponse>;
  isOver: boolean;
}

/** Event streams as the protocol has them, by numbers. Their events are kept. */
class McpEventStreams {
  readonly #streams = new Map<string, EventStream>();
  #count = 0;

  /** Begins a stream with this reader. @param retryMs - tells the client when to come back. */
  begin(reader: ServerResponse, retryMs?: number): string {
    this.#count += 1;
    const stream = String(this.#count);
    this.#streams.set(stream, { events: [], readers: new Set(), isOver: false });
    openEvents(reader);
    if (retryMs !== undefined) reader.write(`retry: ${retryMs}\n\n`);
    this.#join(stream, reader);
    return stream;
  }

  /** Sends an event to whoever reads the stream, now or later. @param withId - under which it can be asked for again. */
  send(stream: string, message: object | undefined, withId: boolean): void {
    const found = this.#streams.get(stream);
    if (found === undefined) return;
    const id = withId ? `id: ${stream}-${found.events.length}\n` : '';
    const event = `${id}${message === undefined ? '' : 'event: message\n'}data: ${message === undefined ? '' : JSON.stringify(message)}\n\n`;
    found.events.push(event);
    for (const reader of found.readers) reader.write(event);
  }

  /** No event follows. */
  end(stream: string): void {
    const found = this.#streams.get(stream);
    if (found === undefined) return;
    found.isOver = true;
    for (const reader of found.readers) reader.end();
  }

  isRead(stream: string): boolean {
    return (this.#streams.get(stream)?.readers.size ?? 0) > 0;
  }

  /** Takes its readers from a stream, which goes on without them. */
  part(stream: string): readonly ServerResponse[] {
    const readers = this.#streams.get(stream)?.readers;
    const parted = [...(readers ?? [])];
    readers?.clear();
    return parted;
  }

  /** Goes on after this event with a new reader. False when there is no such event. */
  resume(lastEventId: string, reader: ServerResponse): boolean {
    const [stream = '', index = ''] = lastEventId.split('-');
    const found = this.#streams.get(stream);
    if (found?.events[Number(index)] === undefined) return false;
    openEvents(reader);
    for (const event of found.events.slice(Number(index) + 1)) reader.write(event);
    if (found.isOver) reader.end();
    else this.#join(stream, reader);
    return true;
  }

  #join(stream: string, reader: ServerResponse): void {
    const readers = this.#streams.get(stream)?.readers;
    readers?.add(reader);
    reader.on('close', () => readers?.delete(reader));
  }
}

/** The head of an event stream, sent at once. */
export function openEvents(response: ServerResponse): void {
  if (response.headersSent) return;
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' });
  response.flushHeaders();
}

/** A session, or what all clients share where there are none. */
export class McpHttpSession {
  readonly id: string | undefined;
  readonly streams = new McpEventStreams();
  /** The GET stream on which notifications go; it outlives its readers. */
  standing: string | undefined;

  constructor(id: string | undefined) {
    this.id = id;
  }

  /** True while somebody reads the GET stream. */
  get stands(): boolean {
    return this.standing !== undefined && this.streams.isRead(this.standing);
  }
}

interface Listen {
  readonly stream: string;
  readonly response: ServerResponse;
  readonly id: RpcId;
  readonly wanted: Readonly<Record<string, unknown>>;
}

/** Names of what a client has to want to be told of a change. */
const wantedFor: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};

const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';

/** The sessions of a server, and the streams that stand open to its clients. */
export class McpHttpSessions {
  readonly #sessions = new Map<string, McpHttpSession>();
  readonly #listens = new Set<Listen>();
  readonly #eventIds: boolean;
  /** State of clients without a session. */
  #shared = new McpHttpSession(undefined);

  constructor(eventIds: boolean) {
    this.#eventIds = eventIds;
  }

  get shared(): McpHttpSession {
    return this.#shared;
  }

  get count(): number {
    return this.#sessions.size;
  }

  get standing(): number {
    return this.#listens.size + this.#all.filter(({ stands }) => stands).length;
  }

  begin(): McpHttpSession {
    const id = randomUUID();
    const session = new McpHttpSession(id);
    this.#sessions.set(id, session);
    return session;
  }

  find(id: string): McpHttpSession | undefined {
    return this.#sessions.get(id);
  }

  /** Forgets this session, or all. */
  forget(id?: string): void {
    if (id !== undefined) {
      this.#sessions.delete(id);
      return;
    }
    this.#sessions.clear();
    this.#shared = new McpHttpSession(undefined);
  }

  /** Has a listen of the second era stand. */
  listen(id: RpcId, wanted: Readonly<Record<string, unknown>>, response: ServerResponse): void {
    const { streams } = this.#shared;
    const listen = { stream: streams.begin(response), response, id, wanted };
    this.#listens.add(listen);
    response.on('close', () => this.#listens.delete(listen));
    const params = { notifications: wanted, _meta: { [subscriptionKey]: id } };
    streams.send(listen.stream, { jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params }, false);
  }

  notify(method: string, params: Readonly<Record<string, unknown>>): void {
    for (const { streams, standing } of this.#all) {
      if (standing !== undefined) streams.send(standing, { jsonrpc: '2.0', method, params }, this.#eventIds);
    }
    const key = wantedFor[method];
    for (const { stream, id, wanted } of this.#listens) {
      if (key !== undefined && wanted[key] !== true) continue;
      const message = { jsonrpc: '2.0', method, params: { ...params, _meta: { [subscriptionKey]: id } } };
      this.#shared.streams.send(stream, message, false);
    }
  }

  /** Lets go of the standing streams. @returns their answers, which are to be ended. Listens get their result where they end in order. */
  part(inOrder: boolean): readonly ServerResponse[] {
    const gets = this.#all.flatMap(({ streams, standing }) => (standing === undefined ? [] : streams.part(standing)));
    const listens = [...this.#listens].map(({ stream, id, response }) => {
      const result = { resultType: 'complete', _meta: { [subscriptionKey]: id } };
      if (inOrder) this.#shared.streams.send(stream, { jsonrpc: '2.0', id, result }, false);
      return response;
    });
    this.#listens.clear();
    return [...gets, ...listens];
  }

  get #all(): readonly McpHttpSession[] {
    return [this.#shared, ...this.#sessions.values()];
  }
}
