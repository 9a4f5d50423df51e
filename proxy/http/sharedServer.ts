import type { Clock, Timer } from '../../src/policy/face.ts';
import { errorAnswer, notificationLine, requestLine, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpAnswer,
  type McpId,
  type McpNotification,
  type McpParams,
  type McpRequest,
  elementSpans,
  fieldsOf,
  idKey,
  readMessage,
  subscriptionField,
  withId,
} from '../../src/protocol/mcp/face.ts';
import { progressKey } from '../wire/requestTraits.ts';
import { withMeta, withNotifiedToken, withRequestId } from '../wire/rewrite.ts';
import { cancelledLine, resultAnswer } from '../wire/syntheticAnswer.ts';
import { SharedHandshake, SharedSubscriptions } from './sharedSubscriptions.ts';
import { type Listener, type OpenServer, ServerLines } from '../wire/serverLines.ts';

interface SharedClient {
  send(text: string): Promise<void> | undefined;
  /** It is gone: what it waits for is called off. */
  end(): void;
  readonly closed: Promise<void>;
}

interface SharedServerOptions {
  readonly clock: Clock;
  readonly open: OpenServer;
  /** Without a client for so long the server ends, in ms; the next client has it started anew. */
  readonly idleMs: number;
  /** Our version, for the server. */
  readonly version: string;
}

/** A request of one client, under the id that the server knows it by. */
interface Asked {
  readonly client: Client;
  readonly id: McpId;
  readonly key: string;
  readonly method: string;
  readonly params: McpParams;
  readonly token: McpId | undefined;
}

interface Client {
  readonly listener: Listener;
  /** Ids of the server by the client's own. */
  readonly asked: Map<string, string>;
}

/**
 * A server for several clients: each has ids and progress tokens of its own. The server is told of none of their abilities, so that it asks none of them
 * anything: nobody could say which.
 */
export class SharedServer implements Listener {
  readonly #options: SharedServerOptions;
  readonly #clients = new Set<Client>();
  readonly #asked = new Map<string, Asked>();
  readonly #handshake: SharedHandshake<Client>;
  readonly #subscriptions = new SharedSubscriptions<Client>();
  #server: ServerLines | undefined = undefined;
  #idle: Timer | undefined = undefined;
  #lastId = 0;

  constructor(options: SharedServerOptions) {
    this.#options = options;
    this.#handshake = new SharedHandshake(options.version);
  }

  attach(listener: Listener): SharedClient {
    this.#options.clock.clearTimeout(this.#idle);
    const client: Client = { listener, asked: new Map() };
    this.#clients.add(client);
    let hasEnded = (): void => undefined;
    const closed = new Promise<void>((resolve) => (hasEnded = resolve));
    return {
      closed,
      send: (text) => this.#take(client, text),
      end: () => {
        if (!this.#clients.delete(client)) return;
        this.#leave(client);
        hasEnded();
        listener.over();
      },
    };
  }

  heard(message: ReturnType<typeof readMessage>, text: string): void {
    if (message.kind === 'answer') this.#answered(message, text);
    else if (message.kind === 'notification') this.#notified(message, text);
    else if (message.kind === 'request') this.#askedBack(message);
  }

  over(): void {
    this.#options.clock.clearTimeout(this.#idle);
    this.#server = undefined;
    this.#handshake.forget();
    for (const { client, id } of this.#asked.values()) {
      const text = errorAnswer(id, rpcErrors.internal, 'The server has ended').trimEnd();
      client.listener.heard(readMessage(text) as McpAnswer, text);
    }
    this.#asked.clear();
  }

  #take(client: Client, text: string): Promise<void> | undefined {
    const message = readMessage(text);
    if (message.kind === 'batch') {
      const waits = elementSpans(text).map(({ start, end }) => this.#take(client, text.slice(start, end)));
      return waits.findLast((wait) => wait !== undefined);
    }
    if (message.kind === 'request') return this.#ask(client, message, text);
    if (message.kind !== 'notification') return undefined;
    if (message.method === 'notifications/cancelled') this.#cancel(client, message.params, text);
    // That they are ready the server hears once, from us.
    else if (message.method !== 'notifications/initialized') return this.#write(text);
    return undefined;
  }

  #ask(client: Client, request: McpRequest, text: string): Promise<void> | undefined {
    const { id, key, method, params } = request;
    if (method === 'initialize') return this.#shakeHands(client, request);
    const ours = this.#subscriptions.take(client, request);
    if (ours === 'answered') {
      this.#tell(client, resultAnswer(id, {}));
      return undefined;
    }
    const own = this.#nextId();
    const token =
      progressKey(fieldsOf(params['_meta'])) === undefined
        ? undefined
        : (fieldsOf(params['_meta'])['progressToken'] as McpId);
    this.#asked.set(`s${own}`, { client, id, key, method, params, token });
    client.asked.set(key, own);
    if (ours !== undefined) return this.#write(requestLine(own, method, ours).trimEnd());
    const line = withId(text, own);
    return this.#write(token === undefined ? line : withMeta(line, 'progressToken', own));
  }

  /** The server has one handshake; each client gets what came of it. */
  #shakeHands(client: Client, { id, params }: McpRequest): Promise<void> | undefined {
    const known = this.#handshake.join(client, id, params);
    if (known === undefined) return undefined;
    if ('result' in known) {
      this.#tell(client, resultAnswer(id, known.result));
      return undefined;
    }
    return this.#write(requestLine(known.id, 'initialize', known.params).trimEnd());
  }

  #cancel(client: Client, { requestId }: McpParams, text: string): void {
    const key = idKey(requestId) ?? '';
    const own = client.asked.get(key);
    if (own === undefined) return;
    client.asked.delete(key);
    this.#asked.delete(`s${own}`);
    void this.#write(withRequestId(text, own));
  }

  #answered(answer: McpAnswer, text: string): void {
    const { key } = answer;
    if (this.#handshake.isAnswer(key)) {
      const { waiting, initialized } = this.#handshake.answered(answer);
      if (initialized) void this.#write(notificationLine('notifications/initialized').trimEnd());
      for (const { client, id } of waiting) if (this.#clients.has(client)) this.#tell(client, withId(text, id));
      return;
    }
    const asked = key === undefined ? undefined : this.#asked.get(key);
    if (key === undefined || asked === undefined) return;
    this.#asked.delete(key);
    asked.client.asked.delete(asked.key);
    if (answer.result !== undefined) this.#subscriptions.answered(asked.client, asked);
    asked.client.listener.heard({ ...answer, key: asked.key }, withId(text, asked.id));
  }

  #notified(message: McpNotification, text: string): void {
    const { method, params } = message;
    const subscription = fieldsOf(params['_meta'])[subscriptionField];
    const about = idKey(
      method === 'notifications/progress'
        ? params['progressToken']
        : method === 'notifications/cancelled'
          ? params['requestId']
          : subscription,
    );
    if (about !== undefined) {
      const asked = this.#asked.get(about);
      if (asked !== undefined) this.#notifyOne(asked, message, text);
      return;
    }
    for (const client of this.#readers(method, params)) client.listener.heard(message, text);
  }

  #notifyOne({ client, id, token }: Asked, message: McpNotification, text: string): void {
    const { method, params } = message;
    if (method === 'notifications/progress') {
      if (token === undefined) return;
      client.listener.heard(
        { ...message, params: { ...params, progressToken: token } },
        withNotifiedToken(text, token),
      );
    } else if (method === 'notifications/cancelled') client.listener.heard(message, withRequestId(text, id));
    else client.listener.heard(message, withMeta(text, subscriptionField, id));
  }

  /** Finds those who may hear what names no request. */
  #readers(method: string, params: McpParams): Iterable<Client> {
    if (method === 'notifications/resources/updated') return this.#subscriptions.readersOf(params['uri']);
    const greeted = [...this.#clients].filter((client) => this.#handshake.has(client));
    if (method !== 'notifications/message') return greeted;
    // Without a handshake it is of a request; of which is only known while there is one.
    const [only] = this.#asked.values();
    if (greeted.length === 0) return only !== undefined && this.#asked.size === 1 ? [only.client] : [];
    return greeted.filter((client) => this.#subscriptions.logs(client, params['level']));
  }

  #askedBack({ id, method }: McpRequest): void {
    const message = `${method}: a server that several clients share cannot ask one of them`;
    const line = method === 'ping' ? resultAnswer(id, {}) : errorAnswer(id, rpcErrors.methodNotFound, message);
    void this.#write(line.trimEnd());
  }

  #leave(client: Client): void {
    for (const own of client.asked.values()) {
      this.#asked.delete(`s${own}`);
      void this.#write(cancelledLine(own, 'The client has left').trimEnd());
    }
    this.#handshake.leave(client);
    for (const uri of this.#subscriptions.leave(client)) {
      void this.#write(requestLine(this.#nextId(), 'resources/unsubscribe', { uri }).trimEnd());
    }
    if (this.#clients.size > 0) return;
    const { clock, idleMs } = this.#options;
    clock.clearTimeout(this.#idle);
    this.#idle = clock.setTimeout(() => this.#server?.end(), idleMs);
  }

  #tell(client: Client, line: string): void {
    const text = line.trimEnd();
    const message = readMessage(text);
    if (message.kind !== 'batch') client.listener.heard(message, text);
  }

  #write(line: string): Promise<void> | undefined {
    this.#server ??= new ServerLines(this.#options.open, this, true);
    return this.#server.send(line);
  }

  #nextId(): string {
    return `client-${++this.#lastId}`;
  }
}
