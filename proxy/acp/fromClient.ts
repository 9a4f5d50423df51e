import { sessionIn } from '../../src/protocol/acp/face.ts';
import { errorAnswer, notificationLine, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpMessage,
  type McpNotification,
  type McpRequest,
  idKey,
  readMessage,
} from '../../src/protocol/mcp/face.ts';
import { idIn } from '../wire/mcpClientPipe.ts';
import type { AgentRequests } from './agentRequests.ts';
import type { ClientRequests } from './clientRequests.ts';
import type { Prompts } from './prompts.ts';
import type { AcpScope } from './scope.ts';

/** Longest line of a client, in bytes: a prompt may hold pictures. */
export const maxLineBytes = 64 * 1024 * 1024;
/** Notifications that wait for an agent; of more the oldest are dropped. */
const mostKept = 1000;

/** Listeners to what a client writes. */
interface FromClientParts {
  readonly prompts: Prompts;
  readonly clientRequests: ClientRequests;
  readonly requests: AgentRequests;
  wantAgent(): void;
}

/** Handling of the lines a client writes. */
export class FromClient {
  readonly #scope: AcpScope;
  readonly #parts: FromClientParts;
  /** What is no request, while there is no agent. */
  #kept: Uint8Array[] = [];

  constructor(scope: AcpScope, parts: FromClientParts) {
    this.#scope = scope;
    this.#parts = parts;
  }

  /** Takes one line, its end included. */
  take(line: Buffer): void {
    const text = line.toString('utf8');
    const message = readMessage(text);
    this.#parts.wantAgent();
    this.#take(message, line, text);
  }

  /** An agent takes what its client says. */
  agentReady(): void {
    const kept = this.#kept;
    this.#kept = [];
    for (const line of kept) this.#pass(line);
  }

  /** A line was too long; what of it is known says whom to answer. */
  refuse(head: Buffer): void {
    const message = `A message may have ${maxLineBytes} bytes; this one was not passed on`;
    this.#scope.toClient(errorAnswer(idIn(head.toString('utf8')), rpcErrors.invalidRequest, message));
  }

  #take(message: McpMessage, line: Uint8Array, text: string): void {
    switch (message.kind) {
      case 'request':
        this.#asked(message, line, text);
        break;
      case 'notification':
        this.#notified(message, line, text);
        break;
      case 'answer': {
        const passed = this.#parts.requests.answered(message, line, text);
        if (passed !== undefined) this.#scope.link?.relay.write(passed);
        break;
      }
      case 'batch':
      case 'foreign':
      case 'garbage':
        this.#pass(line);
    }
  }

  #asked(request: McpRequest, line: Uint8Array, text: string): void {
    const { prompts, clientRequests } = this.#parts;
    if (prompts.has(request.key) || clientRequests.has(request.key)) {
      const message = 'There is a request of this id already';
      this.#scope.toClient(errorAnswer(request.id, rpcErrors.invalidRequest, message));
    } else if (request.method === 'session/prompt') prompts.start(request, line);
    else clientRequests.start(request, line, text);
  }

  #notified({ method, params }: McpNotification, line: Uint8Array, text: string): void {
    const { sessions, link } = this.#scope;
    const { prompts } = this.#parts;
    const session = sessions.known(sessionIn(params));
    if (method === 'session/cancel') {
      this.#cancelAtAgent(session?.agentId, line, session?.isRenamed === true);
      if (session !== undefined) prompts.cancel(session);
    } else if (method === '$/cancel_request') {
      const cancelled = prompts.cancelRequest(idKey(params['requestId']) ?? '');
      if (link?.isReady === true) link.relay.write(line);
      // Not every agent knows the request; every one knows the turn.
      if (cancelled !== undefined) this.#cancelAtAgent(cancelled.agentId, line, true);
    } else this.#pass(session?.isRenamed === true ? Buffer.from(session.translated(text, 'agent')) : line);
  }

  #cancelAtAgent(sessionId: string | undefined, line: Uint8Array, isNew: boolean): void {
    const { link } = this.#scope;
    if (link?.isReady === true) link.relay.write(isNew ? notificationLine('session/cancel', { sessionId }) : line);
  }

  #pass(line: Uint8Array): void {
    const { link } = this.#scope;
    if (link?.isReady === true) link.relay.write(line);
    else if (this.#kept.push(line) > mostKept) this.#kept.shift();
  }
}
