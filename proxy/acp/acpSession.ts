import type { Replayed } from '../wire/sessionRecord.ts';
import { type McpParams, memberSpan, replaced } from '../../src/protocol/mcp/face.ts';
import type { Prompt } from './prompt.ts';

/** A session as the client knows it, over all processes of the agent. */
export class AcpSession {
  /** As the client knows it. */
  readonly id: string;
  /** As the agent of the moment knows it: another one where that could not load it. */
  agentId: string;
  /** What it was opened with, but its id; undefined where nobody saw that. */
  opening: McpParams | undefined = undefined;
  /** The last request of each kind that changed how it goes on (mode, model, option). */
  readonly settings = new Map<string, Replayed>();
  /** Number of the incarnation that has it. */
  knownTo = 0;
  /** An incarnation is loading it: what is told of the past the client has already. */
  isReplaying = false;
  /** When its agent last told something of it, monotonic, in ms. */
  heardAt = Number.NEGATIVE_INFINITY;
  /** The one that the agent is at, answered or not. */
  current: Prompt | undefined = undefined;
  /** Those that wait for it. */
  readonly held: Prompt[] = [];

  constructor(id: string) {
    this.id = id;
    this.agentId = id;
  }

  /** The prompt that its client waits for; undefined where the agent is at none, or at one that has its answer. */
  get active(): Prompt | undefined {
    return this.current?.isAbandoned === false ? this.current : undefined;
  }

  /** True while what the agent tells of it is of a turn that has its answer. */
  get isStale(): boolean {
    return this.current?.isAbandoned === true;
  }

  /** A line to the agent, or from it, with the id that its reader knows. */
  translated(text: string, to: 'agent' | 'client'): string {
    const params = memberSpan(text, 'params');
    const span = params === undefined ? undefined : memberSpan(text, 'sessionId', params.start);
    return replaced(text, span, to === 'agent' ? this.agentId : this.id);
  }

  get isRenamed(): boolean {
    return this.agentId !== this.id;
  }
}

/** The sessions of a client. */
export class AcpSessions {
  readonly #byId = new Map<string, AcpSession>();
  readonly #renamed = new Map<string, AcpSession>();

  /** The session of an id of the client, made where there is none: the agent judges whether it knows it. */
  of(id: string): AcpSession {
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    const made = new AcpSession(id);
    this.#byId.set(id, made);
    return made;
  }

  known(id: string | undefined): AcpSession | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  /** That which the agent calls so. */
  ofAgent(id: string | undefined): AcpSession | undefined {
    if (id === undefined) return undefined;
    return this.#renamed.get(id) ?? this.#byId.get(id);
  }

  /** The agent of the moment has it under a new id. */
  rename(session: AcpSession, agentId: string): void {
    this.#unname(session);
    session.agentId = agentId;
    if (session.isRenamed) this.#renamed.set(agentId, session);
  }

  /** It is closed: nothing of it is brought back. */
  forget(session: AcpSession): void {
    if (session.current !== undefined || session.held.length > 0) return;
    this.#byId.delete(session.id);
    this.#unname(session);
  }

  /** A new agent may call another session as the last one called it. */
  #unname(session: AcpSession): void {
    if (this.#renamed.get(session.agentId) === session) this.#renamed.delete(session.agentId);
  }

  [Symbol.iterator](): Iterator<AcpSession> {
    return this.#byId.values();
  }
}
