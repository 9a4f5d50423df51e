import { AcpSession } from './prompt.ts';

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
