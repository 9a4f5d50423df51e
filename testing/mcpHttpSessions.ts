import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { RpcId } from '../src/protocol/jsonRpc.ts';
import { McpEventStreams } from './mcpEventStreams.ts';

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
