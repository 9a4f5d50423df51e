import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RpcError } from '../src/protocol/face.ts';
import { type Answer, type ClientMessage, createGoodAnswers, type GoodAnswers } from './faultyMcpAnswers.ts';
import { McpHttpActs } from './faultyMcpHttpActs.ts';
import type { FaultyMcpHttpScript } from './faultyMcpHttpScript.ts';
import { createFaultPicker } from './mcpAnswerFaults.ts';
import type { FaultyTool } from './mcpFaults.ts';
import { letsToolRun, type ReadMcpHttpRule } from './mcpHttpFaults.ts';
import { type Exchange, matchesOn, McpHttpRequests, readExchange, statelessVersion } from './mcpHttpRequests.ts';
import { McpHttpSession, McpHttpSessions } from './mcpHttpSessions.ts';

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
};

/** Methods that the second era does not have any more. */
const gone: ReadonlySet<string> = new Set(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe']);

/** The server side of HTTP conversations, by the script. */
export class FaultyMcpHttpPeer {
  readonly requests: McpHttpRequests;
  readonly sessions: McpHttpSessions;
  /** Address where clients find the server. */
  origin = '';
  onBlackHole: () => void = () => undefined;
  readonly #script: FaultyMcpHttpScript;
  readonly #answers: GoodAnswers;
  readonly #acts: McpHttpActs;
  readonly #runs: string[] = [];
  #pick: (exchange: Exchange) => ReadMcpHttpRule | undefined;

  constructor(script: FaultyMcpHttpScript, changed: () => void) {
    this.#script = script;
    this.requests = new McpHttpRequests(changed);
    this.sessions = new McpHttpSessions(script.eventIds);
    const ruleTools = [...new Set(script.faults.flatMap(({ tool }) => tool ?? []))];
    this.#answers = createGoodAnswers({ ...script, capabilities }, script.tools, ruleTools);
    this.#acts = new McpHttpActs(script, this.requests);
    this.#pick = pickerOf(script.faults);
  }

  /** The listener of an HTTP server. Never throws. */
  readonly take = (request: IncomingMessage, response: ServerResponse): void => {
    void readExchange(request, response).then((exchange) => {
      if (exchange === undefined) return;
      this.requests.note(exchange);
      this.#serve(exchange);
    });
  };

  ran(tool?: string): number {
    return this.#runs.filter((name) => tool === undefined || name === tool).length;
  }

  setFaults(faults: readonly ReadMcpHttpRule[]): void {
    this.#pick = pickerOf(faults);
  }

  setTools(tools: readonly FaultyTool[]): void {
    this.#answers.setTools(tools);
    this.sessions.notify('notifications/tools/list_changed', {});
  }

  endStreams(how: 'end' | 'reset'): void {
    for (const response of this.sessions.part(how === 'end')) this.#acts.end(response, how);
  }

  release(): void {
    this.#acts.release();
  }

  #serve(exchange: Exchange): void {
    const { path, on, response, request } = exchange;
    if (on === 'metadata') {
      this.#tellMetadata(exchange);
      return;
    }
    if (path !== '/mcp') {
      plain(response, 404);
      return;
    }
    if (!this.#mayPass(request)) {
      response.setHeader('www-authenticate', this.#challenge());
      plain(response, 401);
      return;
    }
    const session = this.#sessionOf(exchange);
    if (!(session instanceof McpHttpSession)) {
      refuse(exchange, session);
      return;
    }
    const rule = this.#pick(exchange);
    if (rule?.do === 'black_hole') this.onBlackHole();
    if (rule?.do === 'lose_session') {
      this.sessions.forget(session.id);
      refuse(exchange, { ...unknownSession, status: rule.status ?? 404 });
      return;
    }
    if (exchange.message !== undefined) this.#takeMessage(exchange, exchange.message, session, rule);
    else if (rule !== undefined) this.#acts.befall(rule, exchange, session, undefined);
    else this.#takeOther(exchange, session);
  }

  /** The session that a request belongs to, or why it is refused. */
  #sessionOf({ request, response, on }: Exchange): McpHttpSession | Refusal {
    const { era, sessionIds } = this.#script;
    const version = request.headers['mcp-protocol-version'] ?? 'none';
    if (version === statelessVersion && era !== 'sessions') {
      return request.method === 'POST' ? this.sessions.shared : { status: 405 };
    }
    if (era === 'stateless') {
      const data = { supported: [statelessVersion], requested: version };
      return { status: 400, error: { code: -32_022, message: 'Unsupported protocol version', data } };
    }
    if (!sessionIds) return this.sessions.shared;
    if (on === 'initialize') return this.#begin(response);
    const id = request.headers['mcp-session-id'];
    if (typeof id !== 'string') return noSession;
    return this.sessions.find(id) ?? unknownSession;
  }

  #begin(response: ServerResponse): McpHttpSession {
    const session = this.sessions.begin();
    response.setHeader('mcp-session-id', session.id ?? '');
    return session;
  }

  #takeMessage(
    exchange: Exchange,
    message: ClientMessage,
    session: McpHttpSession,
    rule: ReadMcpHttpRule | undefined,
  ): void {
    const isRequest = message.id !== undefined;
    const runs = letsToolRun(rule);
    const answer = runs ? this.#answer(message) : { result: {} };
    if (runs && message.method === 'tools/call') this.#runs.push(String(message.params['name']));
    if (rule !== undefined) this.#acts.befall(rule, exchange, session, answer);
    else if (!isRequest) plain(exchange.response, 202);
    else if (message.method === 'subscriptions/listen') {
      const wanted = message.params['notifications'];
      this.sessions.listen(message.id ?? '', (wanted ?? {}) as Readonly<Record<string, unknown>>, exchange.response);
    } else this.#acts.answer(exchange, session, answer);
  }

  /** Answers as a server that does nothing wrong; one of the second era says so in each result. */
  #answer(message: ClientMessage): Answer {
    const meta = message.params['_meta'] as Readonly<Record<string, unknown>> | undefined;
    if (meta?.['io.modelcontextprotocol/protocolVersion'] !== statelessVersion) return this.#answers.answer(message);
    const { name, version } = this.#script;
    const answer =
      message.method === 'server/discover'
        ? { result: { supportedVersions: [statelessVersion], capabilities, instructions: this.#script.instructions } }
        : this.#answers.answer(gone.has(message.method) ? { ...message, method: 'gone' } : message);
    if (!('result' in answer)) return answer;
    const _meta = { 'io.modelcontextprotocol/serverInfo': { name, version } };
    return { result: { ...answer.result, resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta } };
  }

  /** Requests without a message, and replies. */
  #takeOther(exchange: Exchange, session: McpHttpSession): void {
    const { on, response, request, reply } = exchange;
    switch (on) {
      case 'reply':
        plain(response, reply?.id === undefined ? 400 : 202);
        if (reply !== undefined) this.#acts.replied(reply.id, reply.content);
        return;
      case 'GET':
        if (session.stands) plain(response, 409);
        else session.standing = session.streams.begin(response);
        return;
      case 'resume':
        if (!session.streams.resume(String(request.headers['last-event-id']), response)) plain(response, 404);
        return;
      case 'DELETE':
        if (session.id !== undefined) this.sessions.forget(session.id);
        plain(response, session.id === undefined ? 405 : 200);
        return;
      default:
        plain(response, 405);
    }
  }

  #mayPass({ headers }: IncomingMessage): boolean {
    const { authorize } = this.#script;
    const [, token] = /^Bearer (.+)$/i.exec(headers.authorization ?? '') ?? [];
    return authorize === undefined || authorize(token);
  }

  #challenge(): string {
    if (this.#script.authorizationServer === undefined) return 'Bearer';
    return `Bearer error="invalid_token", resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
  }

  #tellMetadata({ response, path }: Exchange): void {
    const { authorizationServer } = this.#script;
    if (authorizationServer === undefined || !path.startsWith('/.well-known/oauth-protected-resource')) {
      plain(response, 404);
      return;
    }
    const metadata = { resource: `${this.origin}/mcp`, authorization_servers: [authorizationServer] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(metadata));
  }
}

function pickerOf(faults: readonly ReadMcpHttpRule[]): (exchange: Exchange) => ReadMcpHttpRule | undefined {
  return createFaultPicker(
    faults,
    ({ on = 'tools/call', tool }, { request, on: is, message }: Exchange) =>
      matchesOn(on, { method: request.method, on: is }) && (tool === undefined || tool === message?.params['name']),
  );
}

function plain(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/** Why a request is refused before anybody looks at its message. */
interface Refusal {
  readonly status: number;
  readonly error?: RpcError | undefined;
}

const unknownSession: Refusal = { status: 404, error: { code: -32_001, message: 'Session not found' } };
const noSession: Refusal = {
  status: 400,
  error: { code: -32_000, message: 'Bad Request: Mcp-Session-Id header is required' },
};

function refuse({ response, message }: Exchange, { status, error }: Refusal): void {
  if (error === undefined) plain(response, status);
  else {
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', error, id: message?.id ?? null }));
  }
}
