import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { rpcErrors } from '../../src/protocol/face.ts';
import { type McpMessage, type McpRequest, claimedVersion, readMessage } from '../../src/protocol/mcp/face.ts';
import type { HttpSession } from './httpSession.ts';
import { HttpSessions, type HttpSessionsOptions } from './httpSessions.ts';
import {
  isModernVersion,
  modernStatus,
  notJson,
  refuse,
  refuseGet,
  refuseModern,
  refusePost,
  refuseVersion,
  sessionIdOf,
  transportError,
  versionOf,
} from './requestChecks.ts';
import { maxBodyBytes, readRequestBody } from './requestBody.ts';
import { SharedServer } from './sharedServer.ts';
import { AnswerSink } from './answerSink.ts';

/** Path where a server is offered by HTTP. */
export const mcpPath = '/mcp';

export interface McpHttpOptions extends Omit<HttpSessionsOptions, 'server'> {
  /** True where all sessions have one server. */
  readonly shared: boolean;
  /** Told the status of a request that was not passed on. @defaultValue nobody is told */
  readonly refused?: ((status: number) => void) | undefined;
  /** Our version, for servers that are shared. */
  readonly version: string;
}

/**
 * A server on stdio as Streamable HTTP has it: sessions for clients that shake hands, each with a server of its own; one server for all
 * requests of the stateless era, which say nothing of who asks. The handlers of the SDK are not used: the one that keeps sessions reads, checks and
 * encodes every message anew, the other has no client for a server to belong to, and they would add 17 MB for what is a way for bytes.
 */
export class McpHttp {
  readonly #options: McpHttpOptions;
  readonly #sessions: HttpSessions;
  readonly #stateless: SharedServer;
  readonly #shared: SharedServer;
  #draining = false;

  constructor(options: McpHttpOptions) {
    const { clock, open, sessionMs: idleMs, version } = options;
    this.#options = options;
    this.#stateless = new SharedServer({ clock, open, idleMs, version });
    this.#shared = new SharedServer({ clock, open, idleMs, version });
    this.#sessions = new HttpSessions({ ...options, server: options.shared ? this.#shared : undefined });
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Answers a request whose sender may ask. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/', method } = request;
    if (url.split('?', 1)[0] !== mcpPath) {
      return this.#refuse(response, {
        status: 404,
        code: transportError,
        message: `Not Found: the server is at ${mcpPath}`,
      });
    }
    if (this.#draining) return this.#refuse(response, stopping, null, { Connection: 'close' });
    if (method === 'POST') return this.#post(request, response);
    if (method === 'GET') return this.#get(request, response);
    if (method === 'DELETE') return this.#delete(request, response);
    return this.#refuse(response, noMethod, null, { Allow: 'GET, POST, DELETE' });
  }

  drain(): void {
    this.#draining = true;
  }

  /** Ends what is left of every stream: the servers have ended. */
  close(): void {
    this.#draining = true;
    this.#sessions.close();
    this.#stateless.over();
    this.#shared.over();
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers } = request;
    const refused = refusePost(headers);
    if (refused !== undefined) return this.#refuse(response, refused);
    const body = await readRequestBody(request);
    if (body === 'left') return;
    if (body === 'too_large') return this.#refuse(response, tooLarge, null, { Connection: 'close' });
    // A line break of JSON is but a space between two words, and a message is to be one line.
    const text = body
      .toString('utf8')
      .replaceAll(/[\r\n]+/g, ' ')
      .trim();
    const message = readMessage(text);
    if (message.kind === 'garbage') return this.#refuse(response, notJson);
    const messages = message.kind === 'batch' ? message.items : [message];
    if (messages.some(({ kind }) => kind === 'foreign' || kind === 'batch')) return this.#refuse(response, notRpc);
    const version = versionOf(headers);
    const isModern = (version !== undefined && isModernVersion(version)) || messages.some(isClaimed);
    if (isModern) return this.#postModern(request, message, text, response);
    return this.#postInSession(request, messages, text, response);
  }

  #postModern(request: IncomingMessage, message: McpMessage, text: string, response: ServerResponse): void {
    // Nothing that is told without being asked for needs an answer, and whose it would be nobody knows.
    if (message.kind === 'notification') {
      response.writeHead(202).end();
      return;
    }
    if (message.kind !== 'request') return this.#refuse(response, notRpc);
    const refused = refuseModern(request.headers, message);
    if (refused !== undefined) return this.#refuse(response, refused, message.id);
    exchange(this.#options.clock, this.#stateless, message, text, response);
  }

  async #postInSession(
    { headers }: IncomingMessage,
    messages: readonly McpMessage[],
    text: string,
    response: ServerResponse,
  ): Promise<void> {
    const [first] = messages;
    const id = sessionIdOf(headers);
    const isHandshake = messages.some((each) => each.kind === 'request' && each.method === 'initialize');
    if (isHandshake && (messages.length > 1 || id !== undefined)) {
      const message = 'Invalid Request: initialize begins a session, and stands alone';
      return this.#refuse(response, { status: 400, code: rpcErrors.invalidRequest, message }, idOf(first));
    }
    if (isHandshake) {
      const session = this.#sessions.open();
      if (session === undefined) return this.#refuse(response, this.#full(), idOf(first), { 'Retry-After': '60' });
      return session.post(messages, text, response);
    }
    return this.#session(id, response)?.post(messages, text, response);
  }

  #get({ headers }: IncomingMessage, response: ServerResponse): void {
    const refused = refuseGet(headers);
    if (refused !== undefined) return this.#refuse(response, refused);
    if (isStateless(headers)) return this.#refuse(response, noSessions, null, { Allow: 'POST' });
    this.#session(sessionIdOf(headers), response)?.get(headers, response);
  }

  #delete({ headers }: IncomingMessage, response: ServerResponse): void {
    const refused = refuseVersion(headers);
    if (refused !== undefined) return this.#refuse(response, refused);
    if (isStateless(headers)) return this.#refuse(response, noSessions, null, { Allow: 'POST' });
    const session = this.#session(sessionIdOf(headers), response);
    if (session === undefined) return;
    session.end();
    response.writeHead(204).end();
  }

  /** The session that is named; where there is none, that was answered. */
  #session(id: string | undefined, response: ServerResponse): HttpSession | undefined {
    const session = id === undefined ? undefined : this.#sessions.get(id);
    if (session === undefined) this.#refuse(response, id === undefined ? noSession : lostSession);
    return session;
  }

  #refuse(...[response, refusal, id, headers]: Parameters<typeof refuse>): void {
    refuse(response, refusal, id, headers);
    this.#options.refused?.(refusal.status);
  }

  #full() {
    const { maxSessions, sessionMs } = this.#options;
    const ends = `a session ends with a DELETE, or ${formatDuration(sessionMs)} after it was used last`;
    return { status: 503, code: transportError, message: `There are ${maxSessions} sessions already; ${ends}` };
  }
}

function isStateless(headers: IncomingMessage['headers']): boolean {
  const version = versionOf(headers);
  return sessionIdOf(headers) === undefined && version !== undefined && isModernVersion(version);
}

const noMethod = { status: 405, code: transportError, message: 'Method not allowed' };
const isClaimed = (message: McpMessage): boolean =>
  message.kind === 'request' && claimedVersion(message.params) !== undefined;

const idOf = (message: McpMessage | undefined): McpRequest['id'] | null =>
  message?.kind === 'request' ? message.id : null;

const stopping = { status: 503, code: transportError, message: 'Service Unavailable: the server is stopping' };
const noSession = { status: 400, code: transportError, message: 'Bad Request: Mcp-Session-Id header is required' };
/** As the SDKs' servers say it. */
const lostSession = { status: 404, code: -32_001, message: 'Session not found' };
const noSessions = { status: 405, code: transportError, message: 'Method not allowed: this revision has no sessions' };
const notRpc = {
  status: 400,
  code: rpcErrors.invalidRequest,
  message: 'Invalid Request: the body is no message of JSON-RPC',
};
const tooLarge = {
  status: 413,
  code: transportError,
  message: `Payload Too Large: a message may have ${maxBodyBytes} bytes`,
};

/** Passes one request of the stateless era on, and what is said about it back. Its client's leaving calls it off. */
function exchange(
  clock: Clock,
  server: Pick<SharedServer, 'attach'>,
  { method }: McpRequest,
  text: string,
  response: ServerResponse,
): void {
  const client = server.attach({
    heard(message: McpMessage, line: string) {
      if (message.kind !== 'answer') {
        sink.send(line, undefined);
        return;
      }
      sink.finish(line, undefined, modernStatus(message.error));
      client.end();
    },
    over: () => sink.end(),
  });
  const sink = new AnswerSink({
    clock,
    response,
    as: method === 'subscriptions/listen' ? 'stream' : 'either',
    left: () => client.end(),
  });
  void client.send(text);
}
