import { StartLimit, withStderr } from '../../src/actors/mcp/face.ts';
import type { ConnectionEmitted } from '../../src/machines/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { failedExit } from '../../src/supervisor/face.ts';
import { type McpRelayHost, mcpRelayLogic } from '../wire/mcpRelay.ts';
import { AgentLink } from './agentLink.ts';
import type { AcpScope } from './scope.ts';

/** Actions of the proxy about its agent, and what it knows of the need for one. */
interface AgentHost extends Pick<McpRelayHost, 'gather' | 'line' | 'drained'> {
  /** A process runs. @returns what it has to hear before it takes requests; undefined when that is nothing. */
  started(link: AgentLink): Promise<void> | undefined;
  ready(link: AgentLink): void;
  /** @returns whether it was to be expected, and is no failure. */
  lost(facts: FailureFacts, stderr: string, link: AgentLink | undefined): boolean;
  /** Tells whether something of the client waits for it. */
  isNeeded(): boolean;
}

/** An agent that is killed twice a second must still answer in between. */
const backoff = { firstImmediate: true, baseMs: 250, factor: 2, maxMs: 5000, jitter: 0.2, resetAfterMs: 10_000 };

/** The agent as a child of the root supervisor, started when it is wanted and kept alive from then on. */
export class AgentChild {
  readonly #scope: AcpScope;
  readonly #host: AgentHost;
  readonly #id: string;
  readonly #startLimit: StartLimit;
  #isAdded = false;
  #isStopped = false;
  #lastStderr = '';
  #isExpected = false;
  #incarnations = 0;

  constructor(scope: AcpScope, host: AgentHost) {
    this.#scope = scope;
    this.#host = host;
    this.#id = `acp:${scope.name}`;
    this.#startLimit = new StartLimit(scope.clock, scope.settings.startMs);
  }

  /** Has an agent started when there is none: the first message does, a request that finds it at rest, or waiting for its restart. */
  want(): void {
    const { runtime, link } = this.#scope;
    if (link !== undefined || this.#isStopped) return;
    if (!this.#isAdded) {
      this.#isAdded = true;
      this.#supervise();
      return;
    }
    const state = runtime.root.state(this.#id);
    if (state === 'stopped' || state === 'quarantined') runtime.root.restartChild(this.#id);
  }

  /** Ends it, and starts it again, as an operator wants it. */
  restart(): void {
    const { root } = this.#scope.runtime;
    if (root.has(this.#id)) root.restartChild(this.#id);
  }

  /** It gave the client an answer. */
  served(): void {
    this.#startLimit.worked();
    this.#scope.link?.relay.answered();
    this.#scope.runtime.root.markStable(this.#id);
  }

  /** True once no agent is wanted any more. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** No agent is wanted any more, and one that is to end may not take its time. */
  stop(): void {
    this.#isStopped = true;
  }

  #supervise(): void {
    const { runtime, settings } = this.#scope;
    const { root, bus } = runtime;
    const id = this.#id;
    runtime.supervise({
      id,
      logic: mcpRelayLogic(settings.target, this.#relayHost()),
      input: {
        command: settings.target.command,
        handshakeMs: () => this.#startLimit.begins(),
        lostOutput: (facts: FailureFacts) => this.#exitOf(facts),
      },
      restart: 'transient',
      backoff,
      intensity: Number.POSITIVE_INFINITY,
      shutdown: 9000,
      onStart: (ref: { on(type: '*', listener: (event: unknown) => void): unknown }) => {
        ref.on('*', (event) => bus.tell({ ...(event as ConnectionEmitted), process: id }));
      },
      // It may have ended in good order while a request had begun to wait for it.
      onExit: () => {
        const state = root.state(id);
        if ((state === 'stopped' || state === 'quarantined') && this.#host.isNeeded()) this.want();
      },
    });
  }

  /** Nobody was given service and nobody waits: it is started when somebody asks again. */
  #exitOf(facts: FailureFacts): unknown {
    const isMissed = this.#scope.agreement.initialized !== undefined || this.#host.isNeeded();
    if (this.#isExpected || !isMissed) return { exit: 'normal' };
    return failedExit(new AttemptError({ ...facts, message: withStderr(facts.message, this.#lastStderr, facts.code) }));
  }

  #relayHost(): McpRelayHost {
    const { clock, runtime, voice } = this.#scope;
    const host = this.#host;
    return {
      clock,
      register: runtime.register,
      hide: voice.hide,
      started: (relay) => {
        const link = new AgentLink(relay, ++this.#incarnations, clock, this.#scope.nextId);
        this.#scope.link = link;
        return host.started(link);
      },
      ready: () => {
        const { link } = this.#scope;
        if (link === undefined) return;
        this.#lastStderr = '';
        this.#scope.lastStderr = '';
        link.isReady = true;
        host.ready(link);
      },
      lost: (facts, stderr) => {
        const gone = this.#scope.link;
        this.#scope.link = undefined;
        this.#startLimit.lost(facts);
        this.#lastStderr = stderr;
        if (gone !== undefined) gone.isReady = false;
        const message = facts.message.replace(/^The server\b/, 'The agent');
        this.#isExpected = host.lost({ ...facts, message }, stderr, gone);
      },
      gather: () => host.gather(),
      line: (line) => host.line(line),
      errors: (chunk) => voice.errors(chunk),
      drained: () => host.drained(),
      requestFailed: () => undefined,
      isWanted: () => host.isNeeded(),
      isPatient: () => !this.#isStopped,
    };
  }
}
