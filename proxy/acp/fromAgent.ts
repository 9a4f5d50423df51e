import { isConversation, sessionIn } from '../../src/protocol/acp/face.ts';
import { notificationLine } from '../../src/protocol/face.ts';
import {
  type McpAnswer,
  type McpId,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  fieldsOf,
  idKey,
  readMessage,
} from '../../src/protocol/mcp/face.ts';
import { parsedJson } from '../../src/policy/text/face.ts';
import { StrayOutput } from '../wire/strayOutput.ts';
import type { AgentRequests } from './agentRequests.ts';
import type { ClientRequests } from './clientRequests.ts';
import type { Prompts } from './prompts.ts';
import type { AcpScope } from './scope.ts';

/** Listeners to what an agent writes. */
interface FromAgentParts {
  readonly prompts: Prompts;
  readonly clientRequests: ClientRequests;
  readonly requests: AgentRequests;
  /** The agent has answered its client. */
  readonly served: () => void;
}

/** Handling of the lines an agent writes: they pass as they are, but what the client has already, or waits for no longer. */
export class FromAgent {
  readonly #scope: AcpScope;
  readonly #parts: FromAgentParts;
  readonly #stray: StrayOutput;

  constructor(scope: AcpScope, parts: FromAgentParts) {
    this.#scope = scope;
    this.#parts = parts;
    this.#stray = new StrayOutput(scope);
  }

  /** Takes one line, its end included. */
  take(line: Buffer): void {
    const text = line.toString('utf8');
    const message = readMessage(text);
    if (message.kind === 'garbage') this.#rescue(text);
    else this.#take(message, line, text);
  }

  /** Its agent is gone. */
  end(): void {
    this.#stray.end();
  }

  #take(message: McpMessage, line: Uint8Array, text: string): void {
    const { toClient, link } = this.#scope;
    const { prompts, clientRequests, served } = this.#parts;
    switch (message.kind) {
      case 'notification':
        this.#notified(message, line, text);
        break;
      case 'request':
        this.#asked(message, line, text);
        break;
      case 'answer':
        // It could not read something; whose that was nobody knows.
        if (message.key === undefined) toClient(line);
        else if (link?.answered(message) === true) break;
        else if (prompts.answered(message, line) || clientRequests.answered(message, line)) served();
        break;
      case 'batch':
        toClient(line);
        break;
      case 'foreign':
        if (!prompts.answered(unreadable(text), line)) this.#stray.take(text);
        break;
      case 'garbage':
        this.#stray.take(text);
    }
  }

  #asked(request: McpRequest, line: Uint8Array, text: string): void {
    const session = this.#scope.sessions.ofAgent(sessionIn(request.params));
    const passed = this.#parts.requests.asked(request, session, line, text);
    if (passed === undefined) return;
    if (session?.isRenamed !== true) this.#scope.toClient(passed);
    else this.#scope.toClient(session.translated(typeof passed === 'string' ? passed : text, 'client'));
  }

  #notified({ method, params }: McpNotification, line: Uint8Array, text: string): void {
    const { sessions, clock, toClient } = this.#scope;
    const { requestId } = params;
    if (method === '$/cancel_request' && idKey(requestId) !== undefined) {
      const known = this.#parts.requests.cancelled(requestId as McpId);
      toClient(known === requestId ? line : notificationLine(method, { ...params, requestId: known }));
      return;
    }
    const session = sessions.ofAgent(sessionIn(params));
    if (session === undefined) {
      toClient(line);
      return;
    }
    if (method === 'session/update') {
      const update = fieldsOf(params['update']);
      const now = clock.now();
      session.heardAt = now;
      // It has the past already, and waits for that turn no longer.
      if ((session.isReplaying || session.isStale) && isConversation(update)) return;
      const passed = session.isRenamed ? session.translated(text, 'client') : line;
      for (const each of session.active?.heard(update, passed, now) ?? [passed]) toClient(each);
      this.#parts.prompts.hear(session, update);
      return;
    }
    toClient(session.isRenamed ? session.translated(text, 'client') : line);
  }

  /** Rescues the message that is glued to what a program prints before it ends its line. */
  #rescue(text: string): void {
    const at = text.indexOf('{"jsonrpc"', 1);
    const rest = at < 0 ? undefined : text.slice(at);
    const message = rest === undefined ? undefined : readMessage(rest);
    if (rest === undefined || message === undefined || message.kind === 'garbage' || message.kind === 'foreign') {
      this.#stray.take(text);
      return;
    }
    this.#stray.take(text.slice(0, at));
    this.#take(message, Buffer.from(rest), rest);
  }
}

/** A message that has an id and nothing else, as an answer that is none. */
function unreadable(text: string): McpAnswer {
  const { id, method } = fieldsOf(parsedJson(text));
  const key = method === undefined ? idKey(id) : undefined;
  return { kind: 'answer', key, result: undefined, error: undefined, flaw: 'it has neither a result nor an error' };
}
