import type { Timer } from '../../src/policy/face.ts';
import { type FailureFacts, classify } from '../../src/policy/failures/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { isRepeatable, isSetting, sessionIn, sessionOpeners } from '../../src/protocol/acp/face.ts';
import type { McpAnswer, McpParams, McpRequest } from '../../src/protocol/mcp/face.ts';
import { answerOfFailure } from '../wire/syntheticAnswer.ts';
import type { AcpSession } from './prompt.ts';
import type { AgentLink } from './agentLink.ts';
import type { Replay } from './replay.ts';
import type { AcpScope } from './scope.ts';
import type { WrapServers } from './wrapServers.ts';

/** A request that is no prompt, and has no answer. */
interface Aside {
  readonly request: McpRequest;
  line: Uint8Array | string;
  /** What it was sent with. */
  params: McpParams;
  readonly at: number;
  timer: Timer | undefined;
  /** Incarnation that has it. */
  sentTo: number;
  attempts: number;
  /** It waits for its session to be loaded. */
  isWaiting: boolean;
}

/** Actions of the proxy about these requests. */
interface ClientRequestsHost {
  readonly replay: Replay;
  readonly wrap: WrapServers;
  /** The agent did not answer what every agent answers at once. */
  late(method: string): void;
  /** The client's own handshake was answered. */
  greeted(): void;
  /** The client was given an answer. */
  served(): void;
  /** The agent has closed a session, and with it its turn. */
  closed(session: AcpSession): void;
}

/** Time that somebody may take to sign in, in ms. */
const signInMs = 10 * 60_000;
/** Agents that a request may outlive. */
const mostAttempts = 3;

/** The requests of the client that are no prompts: each ends once, and what they agree on is remembered for the next process of the agent. */
export class ClientRequests {
  readonly #scope: AcpScope;
  readonly #host: ClientRequestsHost;
  readonly #open = new Map<string, Aside>();
  readonly #idle: (() => void)[] = [];

  constructor(scope: AcpScope, host: ClientRequestsHost) {
    this.#scope = scope;
    this.#host = host;
  }

  get size(): number {
    return this.#open.size;
  }

  /** True while the client's own handshake waits for its answer. */
  get isInitializing(): boolean {
    for (const { request } of this.#open.values()) if (request.method === 'initialize') return true;
    return false;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  allSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Has a request answered, once. */
  start(request: McpRequest, line: Uint8Array, text: string): void {
    const { clock } = this.#scope;
    const { params, text: sent } = this.#host.wrap(request, text);
    const aside: Aside = {
      ...{ request, params, line: sent === text ? line : sent, at: clock.now() },
      ...{ timer: undefined, sentTo: 0, attempts: 0, isWaiting: false },
    };
    this.#open.set(request.key, aside);
    aside.timer = clock.setTimeout(() => this.#expired(aside), this.#limitMs(request.method), { running: true });
    this.#send(aside);
  }

  /** An agent takes requests. */
  agentReady(): void {
    for (const aside of [...this.#open.values()]) this.#send(aside);
  }

  /** The agent answers. @returns whether it answers one of these. */
  answered(answer: McpAnswer, line: Uint8Array): boolean {
    const aside = answer.key === undefined ? undefined : this.#open.get(answer.key);
    const { link, toClient } = this.#scope;
    if (aside === undefined || aside.sentTo !== link?.number) return false;
    this.#end(aside);
    if (answer.result !== undefined) this.#remember(aside, answer.result, link);
    toClient(line);
    this.#host.served();
    if (aside.request.method === 'initialize') this.#host.greeted();
    return true;
  }

  /** The agent is gone: what only looks or begins anew is asked of the next one, the rest is answered. */
  lost(facts: FailureFacts, isHopeless: boolean): void {
    for (const aside of [...this.#open.values()]) {
      const { method, params } = aside.request;
      const session = method === 'session/load' ? this.#scope.sessions.known(sessionIn(params)) : undefined;
      // The client has a part of the past, and would have it twice.
      const isTold = session !== undefined && Number.isFinite(session.heardAt);
      const goesOn = aside.sentTo === 0 || (isRepeatable(method) && !isTold && aside.attempts < mostAttempts);
      aside.sentTo = 0;
      if (isHopeless || !goesOn)
        this.#refuse(aside, { ...facts, outcome: isRepeatable(method) ? 'failed' : 'unknown' });
    }
  }

  /** Nothing is waited for any more. */
  stop(): void {
    const facts: FailureFacts = {
      kind: 'unavailable',
      reason: 'stopped',
      message: 'unwedge stops',
      outcome: 'unknown',
    };
    for (const aside of [...this.#open.values()]) this.#refuse(aside, facts);
  }

  #limitMs(method: string): number {
    const { startMs, policy } = this.#scope.settings;
    if (method === 'authenticate') return signInMs;
    return isRepeatable(method) ? startMs : policy.limits.idleMs;
  }

  #send(aside: Aside): void {
    const { link, sessions, clock } = this.#scope;
    const { method, params } = aside.request;
    // A handshake is what makes an agent ready.
    if (link === undefined || (!link.isReady && method !== 'initialize')) return;
    if (aside.sentTo !== 0 || aside.isWaiting) return;
    const session = sessions.known(sessionIn(params));
    // What the client loads itself need not be had before; but two at once would tell one past.
    const isOwn = sessionOpeners.get(method) === 'params';
    // The end of that turn sends it: what is told until then is not shown.
    if (isOwn && session?.isStale === true) return;
    const loading = session && this.#host.replay[isOwn ? 'underWay' : 'ensure'](session, link);
    if (loading === undefined) {
      this.#write(aside, link);
      return;
    }
    aside.isWaiting = true;
    const goOn = (): void => {
      aside.isWaiting = false;
      // It may have been answered meanwhile; the agent may have gone.
      if (this.#open.get(aside.request.key) === aside) this.#send(aside);
    };
    loading.then(goOn, (error: unknown) => {
      if (isOwn) return goOn();
      aside.isWaiting = false;
      // With another agent it is asked for again.
      if (this.#scope.link === link && this.#open.get(aside.request.key) === aside)
        this.#refuse(aside, classify(error, { wallNow: clock.wallNow() }));
    });
  }

  #write(aside: Aside, link: AgentLink): void {
    const { sessions } = this.#scope;
    const { method, params } = aside.request;
    const id = sessionIn(params);
    const session = id !== undefined && method === 'session/load' ? sessions.of(id) : sessions.known(id);
    if (session !== undefined && method === 'session/load') {
      // The past that follows is what the client wants.
      session.isReplaying = false;
      session.heardAt = Number.NEGATIVE_INFINITY;
    }
    const { line } = aside;
    aside.sentTo = link.number;
    aside.attempts++;
    const text = typeof line === 'string' ? line : undefined;
    link.relay.write(
      session?.isRenamed === true
        ? session.translated(text ?? Buffer.from(line as Uint8Array).toString('utf8'), 'agent')
        : line,
    );
  }

  #remember({ request, params }: Aside, result: McpParams, link: AgentLink): void {
    const { agreement, sessions } = this.#scope;
    const { method } = request;
    if (method === 'initialize') {
      agreement.asked = params;
      agreement.initialized = result;
    } else if (method === 'authenticate') agreement.authenticated = params;
    const opener = sessionOpeners.get(method);
    const id = sessionIn(opener === 'result' ? result : params);
    if (id === undefined) return;
    if (opener !== undefined) {
      const { sessionId: _id, ...opening } = params;
      const session = sessions.of(id);
      session.opening = opening;
      session.knownTo = link.number;
    } else if (isSetting(method)) {
      const { sessionId: _id, ...own } = params;
      const { configId } = own;
      sessions
        .known(id)
        ?.settings.set(typeof configId === 'string' ? `${method} ${configId}` : method, { method, params: own });
    } else if (method === 'session/close' || method === 'session/delete') {
      const session = sessions.known(id);
      if (session === undefined) return;
      this.#host.closed(session);
      sessions.forget(session);
    }
  }

  #expired(aside: Aside): void {
    const { method } = aside.request;
    const limitMs = this.#limitMs(method);
    const wasAsked = aside.sentTo !== 0;
    const message = `No answer to ${method} within ${formatDuration(limitMs)}`;
    const outcome = wasAsked ? 'unknown' : 'not_started';
    this.#refuse(aside, { kind: 'timeout', reason: 'attempt_timeout', message, outcome });
    if (wasAsked && isRepeatable(method) && method !== 'authenticate') this.#host.late(method);
  }

  #refuse(aside: Aside, facts: FailureFacts): void {
    const { clock, toClient, name, lastStderr } = this.#scope;
    this.#end(aside);
    const { id, method } = aside.request;
    const failure = { ...facts, integration: name, attempts: aside.attempts, retryable: isRepeatable(method) };
    const asked = { id, method, modern: false, asTask: false };
    const stderr = facts.kind === 'timeout' || facts.kind === 'unavailable' ? '' : lastStderr;
    toClient(answerOfFailure(asked, failure, clock.now() - aside.at, stderr));
    this.#host.served();
  }

  #end(aside: Aside): void {
    this.#scope.clock.clearTimeout(aside.timer);
    if (this.#open.get(aside.request.key) === aside) this.#open.delete(aside.request.key);
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.#open.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
