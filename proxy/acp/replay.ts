import { inTime } from '../../src/policy/face.ts';
import { AttemptError } from '../../src/policy/failures/face.ts';
import { notificationLine } from '../../src/protocol/face.ts';
import { noteField, waysBack } from '../../src/protocol/acp/face.ts';
import type { AcpSession } from './prompt.ts';
import type { AgentLink } from './agentLink.ts';
import type { AcpScope } from './scope.ts';

/** Time without a word of the past after which a loaded session has told it all, and the most that is waited for that, in ms. */
const quietMs = 250;
const mostQuietMs = 3000;

/** Brings a new process of the agent to where the last one was. */
export class Replay {
  readonly #scope: AcpScope;
  readonly #loading = new Map<AcpSession, { readonly link: AgentLink; readonly done: Promise<void> }>();

  readonly #late: (method: string) => void;

  /** @param late - told of a way back that the agent does not answer. Must not throw. */
  constructor(scope: AcpScope, late: (method: string) => void) {
    this.#scope = scope;
    this.#late = late;
  }

  /** Greets it as the client greeted the first one. Rejects with {@link AttemptError} where it does not take that. */
  async greet(link: AgentLink): Promise<void> {
    const { agreement, settings } = this.#scope;
    agreement.initialized = await link.ask('initialize', agreement.asked ?? {}, settings.startMs);
    if (agreement.authenticated === undefined) return;
    // Most agents keep what somebody signed in to; one that refuses will say so when it is asked for more.
    await link.ask('authenticate', agreement.authenticated, settings.startMs).catch(ignoreRefusal);
  }

  /** Has the agent of the moment know a session; at once where it does. Rejects with {@link AttemptError} where it cannot be had. */
  ensure(session: AcpSession, link: AgentLink): Promise<void> | undefined {
    if (session.knownTo === link.number) return undefined;
    if (session.opening === undefined) {
      session.knownTo = link.number;
      return undefined;
    }
    const known = this.underWay(session, link);
    if (known !== undefined) return known;
    const done = this.#load(session, link).finally(() => {
      if (this.#loading.get(session)?.link === link) this.#loading.delete(session);
    });
    this.#loading.set(session, { link, done });
    return done;
  }

  /** The work on having a session back; undefined where there is none. */
  underWay(session: AcpSession, link: AgentLink): Promise<void> | undefined {
    const known = this.#loading.get(session);
    return known?.link === link ? known.done : undefined;
  }

  async #load(session: AcpSession, link: AgentLink): Promise<void> {
    const { clock, facts, name } = this.#scope;
    const beganAt = clock.now();
    // Until it is had: one that is late with the past tells it all the same.
    session.isReplaying = true;
    const by = await this.#bringBack(session, link);
    for (const { method, params } of session.settings.values()) {
      const own = { ...params, sessionId: session.agentId };
      await link.ask(method, own, this.#scope.settings.startMs).catch(ignoreRefusal);
    }
    if (by === 'session/load') await this.quiet(session, link);
    session.knownTo = link.number;
    session.isReplaying = false;
    facts.tell({
      type: 'acp.session_loaded',
      integration: name,
      agentSession: session.id,
      by,
      elapsedMs: clock.now() - beganAt,
    });
  }

  async #bringBack(session: AcpSession, link: AgentLink): Promise<string> {
    const { agreement, settings, sessions, toClient, name } = this.#scope;
    const opening = session.opening ?? {};
    for (const way of waysBack(agreement.initialized ?? {})) {
      try {
        await link.ask(way, { ...opening, sessionId: session.agentId }, settings.startMs);
        return way;
      } catch (error) {
        if (error instanceof AttemptError && error.facts.reason === 'init_timeout') this.#late(way);
        ignoreRefusal(error);
      }
    }
    const { sessionId } = await link.ask('session/new', opening, settings.startMs);
    if (typeof sessionId === 'string') sessions.rename(session, sessionId);
    const text = `${name} was restarted and cannot load this session: it goes on without what was said before.`;
    const update = {
      ...{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `${text}\n\n` } },
      _meta: { [noteField]: true },
    };
    toClient(notificationLine('session/update', { sessionId: session.id, update }));
    return 'session/new';
  }

  /** Resolves once a session that was loaded has told its past: some agents tell more of it after they have answered (gemini 0.61). */
  async quiet(session: AcpSession, link: AgentLink): Promise<void> {
    const { clock } = this.#scope;
    const beganAt = clock.now();
    for (;;) {
      const now = clock.now();
      const limitMs = Math.max(session.heardAt, beganAt) + quietMs - now;
      if (limitMs <= 0 || now - beganAt >= mostQuietMs || this.#scope.link !== link) return;
      await inTime(link.gone, { clock, limitMs, running: true });
    }
  }
}

/** A refusal leads on to the next way; a loss or a limit is the end of all of them. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof AttemptError) || error.facts.kind !== 'permanent') throw error;
}
