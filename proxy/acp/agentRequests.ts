import { actsByClient, asksPerson, cancelledCode } from '../../src/protocol/acp/face.ts';
import { errorAnswer, notificationLine, rpcLine, textHash } from '../../src/protocol/face.ts';
import {
  type McpAnswer,
  type McpId,
  type McpParams,
  type McpRequest,
  fieldsOf,
  idKey,
  withId,
} from '../../src/protocol/mcp/face.ts';
import { type AskedPermission, askPermission, choiceIn, permissionOf } from './permissions.ts';
import type { AcpSession } from './prompt.ts';
import type { Prompt } from './prompt.ts';
import type { AcpScope } from './scope.ts';

/** A question that waits for a person. */
export interface OpenQuestion {
  readonly id: string;
  readonly what: string;
  /** Id of its session, as the client knows it. */
  readonly session: string;
  readonly sinceMs: number;
}

/** A request of the agent that the client has not answered. */
interface Open {
  /** As the client knows it. */
  readonly clientId: McpId;
  /** As the agent knows it. */
  readonly agentId: McpId;
  readonly method: string;
  readonly session: AcpSession | undefined;
  /** The one that it was asked for; undefined outside of a turn. */
  readonly prompt: Prompt | undefined;
  readonly terminal: string | undefined;
  readonly params: McpParams;
  /** Monotonic, in ms. */
  readonly at: number;
  /** The same question to people, while the inbox has it. */
  people: AskedPermission | undefined;
  /** The client's answer, until it is known whether it was the first; null: it has nobody to ask. */
  answer: McpAnswer | null | undefined;
}

/** Requests that nobody waits for any more and that the client may still answer; of more the oldest are forgotten. */
const mostStale = 1000;

/**
 * Requests of the agent to its client. A new agent counts its ids from the start again: an answer to a dead one must not reach it, and the client must not
 * see one id twice.
 */
export class AgentRequests {
  readonly #scope: AcpScope;
  /** By the client's id. */
  readonly #open = new Map<string, Open>();
  readonly #stale = new Set<string>();
  /** Hash of what a terminal held when the agent last asked for it. */
  readonly #terminals = new Map<string, string>();

  constructor(scope: AcpScope) {
    this.#scope = scope;
  }

  /** The agent asks. @returns the line for the client; undefined where it is answered here. */
  asked(
    request: McpRequest,
    session: AcpSession | undefined,
    line: Uint8Array,
    text: string,
  ): Uint8Array | string | undefined {
    const { id, key, method, params } = request;
    const { link, clock, nextId } = this.#scope;
    // Its turn is over for the client: nobody may ask for it any more, and it is to have no effect.
    if (session?.isStale === true && (asksPerson(method) || actsByClient(method))) {
      link?.relay.write(withdrawal(id, method));
      return undefined;
    }
    const isTaken = this.#open.has(key) || this.#stale.has(key);
    const clientId = isTaken ? nextId() : id;
    const terminal = typeof params['terminalId'] === 'string' ? params['terminalId'] : undefined;
    const prompt = session?.active;
    const open: Open = {
      ...{ clientId, agentId: id, method, session, prompt },
      ...{ terminal, params, at: clock.now(), people: undefined, answer: undefined },
    };
    this.#open.set(idKey(clientId) ?? '', open);
    if (method === 'session/request_permission') this.#askPeople(open);
    // To look at a terminal again is no progress; what it shows may be.
    if (method !== 'terminal/output') prompt?.asked();
    return isTaken ? withId(text, clientId) : line;
  }

  /** The client answers. @returns the line for the agent; undefined where none waits for it. */
  answered(answer: McpAnswer, line: Uint8Array, text: string): Uint8Array | string | undefined {
    const { key, result } = answer;
    const open = key === undefined ? undefined : this.#open.get(key);
    if (key === undefined || open === undefined) {
      if (key !== undefined) this.#stale.delete(key);
      return undefined;
    }
    const { prompt, method, terminal, people } = open;
    if (people !== undefined && this.#leavesToPeople(people, open, answer)) return undefined;
    this.#open.delete(key);
    people?.withdraw();
    if (method === 'session/request_permission') this.#noteDecision(open, result);
    if (method !== 'terminal/output' || this.#isNews(terminal, result)) prompt?.context?.touch();
    return open.clientId === open.agentId ? line : withId(text, open.agentId);
  }

  /** The turn of a session was cancelled: people need not decide for it any more, and its agent must not wait for them. */
  withdraw(session: AcpSession, tellsClient: boolean): void {
    const { link, toClient } = this.#scope;
    for (const [key, open] of [...this.#open]) {
      if (open.session !== session || !asksPerson(open.method)) continue;
      this.#outlive(key);
      link?.relay.write(withdrawal(open.agentId, open.method));
      // A client that cancels itself answers its own questions.
      if (tellsClient) toClient(notificationLine('$/cancel_request', { requestId: open.clientId }));
    }
  }

  /** The agent waits for an answer no longer (`$/cancel_request`). @returns the id of it that the client knows. */
  cancelled(id: McpId): McpId {
    for (const [key, { agentId, clientId }] of this.#open) {
      if (agentId !== id) continue;
      this.#outlive(key);
      return clientId;
    }
    return id;
  }

  /** The agent is gone: the client need not answer any of them. */
  lost(): void {
    for (const [key, { clientId }] of [...this.#open]) {
      this.#outlive(key);
      this.#scope.toClient(notificationLine('$/cancel_request', { requestId: clientId }));
    }
    this.#terminals.clear();
  }

  /** Tells whether a question of a session's turn waits in the inbox: until its deadline there the turn has time. */
  asksPeople(session: AcpSession): boolean {
    return [...this.#open.values()].some(({ session: own, people }) => own === session && people !== undefined);
  }

  /** The client is gone: nobody waits for people any more. */
  leave(): void {
    for (const { people } of this.#open.values()) people?.withdraw();
  }

  /** Tells whether the client owes an answer that excuses the silence of a session's agent: a person's for as long as it takes, any other for `limitMs`. */
  excuses(session: AcpSession, now: number, limitMs: number): boolean {
    // A request that its turn has left behind is of no other.
    for (const { session: own, prompt, method, at } of this.#open.values())
      if (own === session && prompt === session.active && (asksPerson(method) || now - at < limitMs)) return true;
    return false;
  }

  /** The questions that wait for a person, with their ages in ms. */
  *questions(now: number): Iterable<OpenQuestion> {
    for (const { clientId, method, params, session, prompt, at } of this.#open.values()) {
      if (!asksPerson(method) || prompt !== session?.active) continue;
      const words = [fieldsOf(params['toolCall'])['title'], params['message'], method];
      const what = words.find((each) => typeof each === 'string')?.slice(0, 100) ?? '';
      yield { id: String(clientId), what, session: session?.id ?? '', sinceMs: now - at };
    }
  }

  /** Has people asked as well, where an inbox is on. The first answer counts; none in time is a refusal. */
  #askPeople(open: Open): void {
    const { params, session, clientId, agentId } = open;
    const key = idKey(clientId) ?? '';
    open.people = askPermission(this.#scope, { params, session: session?.id }, (asked) => {
      const { end, answer } = asked;
      const { link, toClient } = this.#scope;
      open.people = undefined;
      if (this.#open.get(key) !== open || end === 'withdrawn' || end === 'left') return;
      const given = open.answer;
      // Nobody else could be asked: the client decides alone.
      if (end === 'unkept' && given === undefined) return;
      const isClients = (end === 'unkept' || answer?.way === 'handler') && given?.result !== undefined;
      const result = isClients ? given.result : permissionOf(params, asked);
      if (given === undefined) {
        this.#outlive(key);
        toClient(notificationLine('$/cancel_request', { requestId: clientId }));
      } else this.#open.delete(key);
      this.#noteDecision(open, result);
      open.prompt?.context?.touch();
      link?.relay.write(rpcLine({ id: agentId, result }));
    });
  }

  /** Tells whether an answer of the client is not the agent's yet, or none. */
  #leavesToPeople(people: AskedPermission, open: Open, answer: McpAnswer): boolean {
    const choice = open.answer ?? choiceIn(open.params, answer, this.#scope.clock.now() - open.at);
    if (choice === undefined) return false;
    if (choice === 'none') open.answer = null;
    else if ('option' in choice) {
      open.answer = answer;
      people.choose(choice.option);
    }
    return true;
  }

  #noteDecision({ params, prompt }: Open, result: McpAnswer['result']): void {
    const tool = permittedTool(params, result);
    if (tool !== undefined) prompt?.turn.heard(tool, this.#scope.clock.now());
  }

  #isNews(terminal: string | undefined, result: McpAnswer['result']): boolean {
    if (terminal === undefined) return false;
    const hash = textHash(JSON.stringify(fieldsOf(result)));
    if (this.#terminals.get(terminal) === hash) return false;
    if (this.#terminals.size >= mostStale) this.#terminals.clear();
    this.#terminals.set(terminal, hash);
    return true;
  }

  #outlive(key: string): void {
    this.#open.get(key)?.people?.withdraw();
    this.#open.delete(key);
    this.#stale.add(key);
    for (const oldest of this.#stale) {
      if (this.#stale.size <= mostStale) break;
      this.#stale.delete(oldest);
    }
  }
}

/** What an answered permission says of its tool: some agents (gemini) tell of one that was allowed when it is over, and not before. */
function permittedTool({ toolCall, options }: McpParams, result: McpAnswer['result']): McpParams | undefined {
  const { toolCallId, title } = fieldsOf(toolCall);
  if (typeof toolCallId !== 'string') return undefined;
  const { outcome, optionId } = fieldsOf(fieldsOf(result)['outcome']);
  const chosen = Array.isArray(options)
    ? options.map(fieldsOf).find((each) => each['optionId'] === optionId)
    : undefined;
  const isAllowed = outcome === 'selected' && chosen !== undefined && !String(chosen['kind']).startsWith('reject');
  return { sessionUpdate: 'tool_call_update', toolCallId, title, status: isAllowed ? 'in_progress' : 'failed' };
}

/** The answer to a question of a turn that was cancelled: what the protocol asks clients to say then. */
function withdrawal(id: McpId, method: string): string {
  if (method === 'session/request_permission') return rpcLine({ id, result: { outcome: { outcome: 'cancelled' } } });
  if (method === 'elicitation/create') return rpcLine({ id, result: { action: 'cancel' } });
  return errorAnswer(id, cancelledCode, 'The turn was cancelled');
}
