import { createHangWatch, type HangWatch, type Suspect } from '../actors/hangWatch.ts';
import { StartLimit } from '../actors/startLimit.ts';
import { withStderr } from '../actors/serverEnd.ts';
import { type McpRelay, type McpRelayHost, mcpRelayLogic } from '../actors/mcpRelay.ts';
import type { ConnectionEmitted } from '../machines/connection.ts';
import type { Timer } from '../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import type { Runtime } from '../runtime.ts';
import { failedExit } from '../supervisor/exit.ts';
import type { ProxySettings } from './settings.ts';
import { Wire, type WireParts } from './wire.ts';

/** How the server of a proxy is kept alive, and who hears of it. */
export interface ServerChildParts {
  readonly runtime: Runtime;
  readonly settings: ProxySettings;
  readonly wire: WireParts;
  readonly hide: (text: string) => string;
  /** A process runs; see {@link McpRelayHost.started}. */
  readonly started: (wire: Wire) => Promise<void> | undefined;
  readonly ready: (wire: Wire) => void;
  /** @returns whether it was to be expected, and is no failure. */
  readonly lost: (facts: FailureFacts, stderr: string, wire: Wire | undefined) => boolean;
  readonly gather: () => () => void;
  readonly line: (line: Buffer) => void;
  readonly errors: (chunk: Buffer) => void;
  readonly drained: () => void;
  /** Whether somebody waits for the server, or is to hear from it without asking. */
  readonly isNeeded: () => boolean;
  /** Whether a server that crashed is started again though nobody waits for it. */
  readonly isEstablished: () => boolean;
  /** Whether a server that is to end may take its time. */
  readonly isPatient: () => boolean;
  /** Whether what the server says is left unread for now. */
  readonly isUnread: () => boolean;
}

/** The server as a child of the root supervisor. */
export interface ServerChild {
  readonly id: string;
  /** The server of the moment, whether or not it takes requests yet. */
  readonly wire: Wire | undefined;
  readonly hangWatch: HangWatch;
  /** Has a server started when there is none: the first message does, a request that finds it at rest, or waiting for its restart. */
  want(): void;
  /** Time to the next start, in ms; undefined when none is planned. */
  readonly nextStartInMs: number | undefined;
  /** It gave the client an answer. */
  served(): void;
  /** No server is wanted any more. */
  stop(): void;
}

/** A request has a start that is planned for later come at once, but not more often than so, in ms. */
const hastenEveryMs = 5000;

/** An MCP server that is killed twice a second must still answer in between. */
const backoff = { firstImmediate: true, baseMs: 250, factor: 2, maxMs: 5000, jitter: 0.2, resetAfterMs: 10_000 };

export function createServerChild(parts: ServerChildParts): ServerChild {
  const { runtime, settings } = parts;
  const { clock, root, bus } = runtime;
  const id = `mcp:${settings.name}`;
  let wire: Wire | undefined;
  let isAdded = false;
  let isStopped = false;
  let lastStderr = '';
  let hastening: Timer | undefined;
  let isExpected = false;
  let isGreeted = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  const startLimit = new StartLimit(clock, settings.server.handshakeMs);

  const hangWatch = createHangWatch({
    connection: () => (wire === undefined ? undefined : suspect(wire)),
    pingMs: settings.server.pingMs,
  });
  /** One for each wire: the watch knows by it whether the server is still the one it suspected. */
  const suspects = new WeakMap<Wire, Suspect>();
  function suspect(of: Wire): Suspect {
    const known = suspects.get(of);
    if (known !== undefined) return known;
    const made: Suspect = {
      ping: (timeoutMs = settings.server.pingMs) => answersPing(of, timeoutMs),
      kill: (facts) => of.relay.kill(facts),
    };
    suspects.set(of, made);
    return made;
  }

  function answersPing(of: Wire, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      // An answer that was in the pipe while the event loop was blocked is read in the turn after the late timer.
      const unanswered = (): void => resolve(parts.isUnread());
      const timer = clock.setTimeout(() => clock.nextTurn(unanswered), timeoutMs, { running: true });
      const answered = (alive: boolean): void => {
        clock.clearTimeout(timer);
        resolve(alive);
      };
      of.request('ping', undefined).then(
        () => answered(true),
        // A refusal is an answer.
        (error: unknown) => answered(error instanceof AttemptError && error.facts.outcome === 'failed'),
      );
    });
  }

  const host: McpRelayHost = {
    clock,
    register: runtime.register,
    hide: parts.hide,
    started(relay: McpRelay) {
      wire = new Wire(relay, parts.wire);
      const greeting = parts.started(wire);
      isGreeted = greeting !== undefined;
      return greeting;
    },
    ready() {
      if (wire === undefined) return;
      wire.ready = true;
      // Without a greeting of ours it is up as soon as it runs; that it works is known once it answers.
      if (isGreeted) startLimit.worked();
      parts.ready(wire);
    },
    lost(facts, stderr) {
      const gone = wire;
      wire = undefined;
      startLimit.lost(facts);
      lastStderr = stderr;
      if (gone !== undefined) gone.ready = false;
      isExpected = parts.lost(facts, stderr, gone);
    },
    gather: parts.gather,
    line: parts.line,
    errors: parts.errors,
    drained: parts.drained,
    isWanted: () => parts.isNeeded(),
    isPatient: parts.isPatient,
  };

  const spec = {
    id,
    logic: mcpRelayLogic(settings.server, host),
    input: {
      command: settings.server.command,
      handshakeMs: () => startLimit.begins(),
      // Nobody was given service and nobody waits: it is started when somebody asks again.
      lostOutput: (facts: FailureFacts): unknown =>
        !isExpected && (parts.isEstablished() || parts.isNeeded())
          ? failedExit(new AttemptError({ ...facts, message: withStderr(facts.message, lastStderr) }))
          : { exit: 'normal' },
    },
    restart: 'transient' as const,
    backoff,
    intensity: Number.POSITIVE_INFINITY,
    shutdown: 9000,
    onStart: (ref: { on(type: '*', listener: (event: unknown) => void): unknown }) => {
      startedAt = clock.now();
      ref.on('*', (event) => bus.tell({ ...(event as ConnectionEmitted), process: id }));
    },
    // What ended in good order while somebody had begun to wait for it.
    onExit: () => {
      const state = root.state(id);
      if ((state === 'stopped' || state === 'quarantined') && parts.isNeeded()) want();
    },
  };

  function want(): void {
    if (wire !== undefined || isStopped) return;
    if (!isAdded) {
      isAdded = true;
      runtime.supervise(spec);
      return;
    }
    const state = root.state(id);
    if (state === 'stopped' || state === 'quarantined') root.restartChild(id);
    else if (state === 'restarting') hasten();
  }

  function hasten(): void {
    const leftMs = startedAt + hastenEveryMs - clock.now();
    if (leftMs <= 0) root.hasten(id);
    else {
      hastening ??= clock.setTimeout(() => {
        hastening = undefined;
        if (parts.isNeeded()) want();
      }, leftMs);
    }
  }

  return {
    id,
    get wire() {
      return wire;
    },
    hangWatch,
    want,
    get nextStartInMs() {
      return root.node(id)?.nextRestartInMs;
    },
    served() {
      startLimit.worked();
      root.markStable(id);
    },
    stop() {
      isStopped = true;
      clock.clearTimeout(hastening);
    },
  };
}
