import { type HangWatch, StartLimit, type Suspect, createHangWatch, withStderr } from '../../src/actors/mcp/face.ts';
import { type McpRelay, type McpRelayHost, mcpRelayLogic } from '../wire/mcpRelay.ts';
import type { ConnectionEmitted } from '../../src/machines/face.ts';
import type { Timer } from '../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { failedExit } from '../../src/supervisor/face.ts';
import { askForLife } from './handshake.ts';
import type { ProxyScope } from './proxyScope.ts';
import { Wire, type WireParts } from './wire.ts';

/** Actions of the proxy about its server, and what it knows of the need for one. */
interface ServerHost extends Pick<McpRelayHost, 'gather' | 'line' | 'errors' | 'drained'> {
  readonly wire: WireParts;
  /** A process runs; see {@link McpRelayHost.started}. */
  started(wire: Wire): Promise<void> | undefined;
  ready(wire: Wire): void;
  /** @returns whether it was to be expected, and is no failure. */
  lost(facts: FailureFacts, stderr: string, wire: Wire | undefined): boolean;
  /** Tells whether a request waits for the server, or the client is to hear from it without asking. */
  isNeeded(): boolean;
  /** A process has ended, with all that it started. */
  incarnationEnded(): void;
  /** Tells whether what the server says is left unread for now. */
  isUnread(): boolean;
}

/** A request has a start that is planned for later come at once, but not more often than so, in ms. */
const hastenEveryMs = 5000;

/** An MCP server that is killed twice a second must still answer in between. */
const backoff = { firstImmediate: true, baseMs: 250, factor: 2, maxMs: 5000, jitter: 0.2, resetAfterMs: 10_000 };

/** The server as a child of the root supervisor, started when it is wanted and kept alive from then on. */
export class ServerChild {
  readonly hangWatch: HangWatch;
  readonly #scope: ProxyScope;
  readonly #host: ServerHost;
  readonly #id: string;
  readonly #startLimit: StartLimit;
  /** Suspect of each wire: the watch knows by it whether the server is still the one it suspected. */
  readonly #suspects = new WeakMap<Wire, Suspect>();
  #isAdded = false;
  #isStopped = false;
  #lastStderr = '';
  #hastening: Timer | undefined = undefined;
  #isExpected = false;
  #isGreeted = false;
  #startedAt = Number.NEGATIVE_INFINITY;

  constructor(scope: ProxyScope, host: ServerHost) {
    const { handshakeMs, pingMs } = scope.settings.server;
    this.#scope = scope;
    this.#host = host;
    this.#id = `mcp:${scope.name}`;
    this.#startLimit = new StartLimit(scope.clock, handshakeMs);
    this.hangWatch = createHangWatch({
      connection: () => (scope.wire === undefined ? undefined : this.#suspect(scope.wire)),
      pingMs,
      isRemote: scope.settings.isRemote,
    });
  }

  /** Time to the next start, in ms; undefined when none is planned. */
  get nextStartInMs(): number | undefined {
    return this.#scope.runtime.root.node(this.#id)?.nextRestartInMs;
  }

  /** Has a server started when there is none: the first message does, a request that finds it at rest, or waiting for its restart. */
  want(): void {
    const { runtime, wire } = this.#scope;
    if (wire !== undefined || this.#isStopped) return;
    if (!this.#isAdded) {
      this.#isAdded = true;
      this.#supervise();
      return;
    }
    const state = runtime.root.state(this.#id);
    if (state === 'stopped' || state === 'quarantined') runtime.root.restartChild(this.#id);
    else if (state === 'restarting') this.#hasten();
  }

  /** It gave the client an answer. */
  served(): void {
    this.#startLimit.worked();
    this.#scope.wire?.relay.answered();
    this.#scope.runtime.root.markStable(this.#id);
  }

  /** No server is wanted any more, and one that is to end may not take its time. */
  stop(): void {
    this.#isStopped = true;
    this.#scope.clock.clearTimeout(this.#hastening);
  }

  #supervise(): void {
    const { runtime, settings, clock, incarnations } = this.#scope;
    const { root, bus } = runtime;
    const id = this.#id;
    runtime.supervise({
      id,
      logic: mcpRelayLogic(settings.server, this.#relayHost()),
      input: {
        command: settings.server.command,
        handshakeMs: () => this.#startLimit.begins(),
        lostOutput: (facts: FailureFacts) => this.#exitOf(facts),
      },
      restart: 'transient',
      backoff,
      intensity: Number.POSITIVE_INFINITY,
      shutdown: 9000,
      ...(settings.isRemote && { details: () => ({ url: settings.server.command }) }),
      onStart: (ref: { on(type: '*', listener: (event: unknown) => void): unknown }) => {
        this.#startedAt = clock.now();
        const incarnation = incarnations?.begins() ?? 0;
        ref.on('*', (event) => {
          const told = event as ConnectionEmitted;
          bus.tell({ ...told, process: id });
          // It is told when nothing is left of it: what it had not done it will not do.
          if (told.type === 'process.exited' && incarnations?.ended(incarnation) === true)
            this.#host.incarnationEnded();
        });
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
    const { record, recorded } = this.#scope;
    // That a handshake was on record has given nobody service.
    const isMissed = (record.established && recorded?.isUnproven !== true) || this.#host.isNeeded();
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
      started: (relay) => this.#started(relay),
      ready: () => this.#ready(),
      lost: (facts, stderr) => this.#lost(facts, stderr),
      gather: () => host.gather(),
      line: (line) => host.line(line),
      errors: (chunk) => host.errors(chunk),
      drained: () => host.drained(),
      requestFailed: (requestId, facts) => this.#scope.wire?.requestFailed(requestId, facts),
      isWanted: () => host.isNeeded(),
      // A session that nobody ends stays with its server; that takes a request, which has a short limit of its own.
      isPatient: () => !this.#isStopped || this.#scope.settings.isRemote,
    };
  }

  #started(relay: McpRelay): Promise<void> | undefined {
    const wire = new Wire(relay, this.#host.wire);
    this.#scope.wire = wire;
    const greeting = this.#host.started(wire);
    this.#isGreeted = greeting !== undefined;
    return greeting;
  }

  #ready(): void {
    const { wire } = this.#scope;
    if (wire === undefined) return;
    // The words of an earlier process tell why there was none, and nothing of this one.
    this.#lastStderr = '';
    this.#scope.lastStderr = '';
    wire.ready = true;
    // Without a greeting of ours it is up as soon as it runs; that it works is known once it answers.
    if (this.#isGreeted) {
      this.#startLimit.worked();
      wire.relay.answered();
    }
    this.#host.ready(wire);
  }

  #lost(facts: FailureFacts, stderr: string): void {
    const gone = this.#scope.wire;
    this.#scope.wire = undefined;
    this.#startLimit.lost(facts);
    this.#lastStderr = stderr;
    if (gone !== undefined) gone.ready = false;
    this.#isExpected = this.#host.lost(facts, stderr, gone);
  }

  #hasten(): void {
    const { clock, runtime } = this.#scope;
    const leftMs = this.#startedAt + hastenEveryMs - clock.now();
    if (leftMs <= 0) runtime.root.hasten(this.#id);
    else {
      this.#hastening ??= clock.setTimeout(() => {
        this.#hastening = undefined;
        if (this.#host.isNeeded()) this.want();
      }, leftMs);
    }
  }

  #suspect(wire: Wire): Suspect {
    const known = this.#suspects.get(wire);
    if (known !== undefined) return known;
    const made: Suspect = {
      ping: (timeoutMs = this.#scope.settings.server.pingMs) => this.#answersPing(wire, timeoutMs),
      kill: (facts) => wire.relay.kill(facts),
    };
    this.#suspects.set(wire, made);
    return made;
  }

  #answersPing(wire: Wire, timeoutMs: number): Promise<boolean> {
    const { clock } = this.#scope;
    return new Promise((resolve) => {
      // An answer that was in the pipe while the event loop was blocked is read in the turn after the late timer.
      const unanswered = (): void => resolve(this.#host.isUnread());
      const timer = clock.setTimeout(() => clock.nextTurn(unanswered), timeoutMs, { running: true });
      const answered = (alive: boolean): void => {
        clock.clearTimeout(timer);
        resolve(alive);
      };
      askForLife(wire, this.#scope.record).then(
        () => answered(true),
        () => answered(false),
      );
    });
  }
}
