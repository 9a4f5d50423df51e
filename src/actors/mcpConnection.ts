import type { ConnectionEvent, ConnectionInput, ProcessEnd, connectionMachine } from '../machines/connection.ts';
import type { RegisterChild } from '../policy/childRecord.ts';
import type { Clock } from '../policy/clock.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import { type Logger, say } from '../policy/logger.ts';
import { checkFunction, checkKeys } from '../policy/options.ts';
import { failedExit } from '../supervisor/exit.ts';
import { plain, unlimitedMs } from './mcpCall.ts';
import type { McpConnection } from './mcpClient.ts';
import { isCleanExit, lossFacts, withStderr } from './serverEnd.ts';
import { startupFacts } from './mcpLoss.ts';
import { type McpServerOptions, type McpServerSettings, checkMcpServer, mcpServerKeys } from './mcpServerOptions.ts';
import { McpTransport, type StrayListener } from './mcpTransport.ts';
import { connectionOver, killGraceMs, type ProcessLink } from './processLink.ts';

export type { McpConnection } from './mcpClient.ts';
export type { McpServerOptions } from './mcpServerOptions.ts';

/** Who is told about a connection. What a callback throws is logged and goes no further. */
export interface McpConnectionHost {
  readonly clock: Clock;
  /** The handshake is over: the connection can be used until `onLost`. */
  readonly onReady?: ((connection: McpConnection) => void) | undefined;
  /**
   * Told once for each incarnation, when it can no longer be used or did not come up, before the requests in flight end and
   * before the process is gone. An end that was asked for has reason `stopped`.
   */
  readonly onLost?: ((facts: FailureFacts) => void) | undefined;
  /** Hears what the server writes to stderr, and to stdout outside the protocol. */
  readonly onStray?: StrayListener | undefined;
  /** Told of the server's process once it runs, so that the next runtime can end it should this one die. */
  readonly register?: RegisterChild | undefined;
  readonly logger?: Logger | undefined;
}

/** How the server is told who we are; the version is that of the package. */
export const clientInfo = { name: 'unwedge', version: '0.1.0' } as const;

/**
 * One incarnation of an MCP server as the child of a supervisor: logic and input of its actor.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function mcpChild(options: McpServerOptions & McpConnectionHost): {
  readonly logic: typeof connectionMachine;
  readonly input: ConnectionInput;
} {
  checkKeys('mcpServer', options, [...mcpServerKeys, 'clock', 'onReady', 'onLost', 'onStray', 'register', 'logger']);
  const settings = checkMcpServer(options);
  for (const hook of ['onReady', 'onLost', 'onStray', 'register'] as const) {
    if (options[hook] !== undefined) checkFunction(hook, options[hook]);
  }
  return {
    logic: mcpConnectionLogic(settings, options),
    input: {
      command: settings.command,
      handshakeMs: settings.handshakeMs,
      lostOutput: (facts) => failedExit(new AttemptError(facts)),
    },
  };
}

/**
 * The connection machine over a server process and the SDK's client. When the actor is stopped without having ended, the
 * process and everything below it gets SIGKILL at once.
 */
function mcpConnectionLogic(settings: McpServerSettings, host: McpConnectionHost): typeof connectionMachine {
  return connectionOver((send) => startLink(settings, host, send));
}

function startLink(
  settings: McpServerSettings,
  host: McpConnectionHost,
  send: (event: ConnectionEvent) => void,
): ProcessLink {
  const { clock } = host;
  const startedAt = clock.now();
  const transport = new McpTransport(settings, clock, (stream, line) => host.onStray?.(stream, line));
  const { process: server } = transport;
  let ready = false;
  let lost: FailureFacts | undefined;
  let unregister: (() => void) | undefined;

  const tell = (what: string, callback: () => void): void => {
    try {
      callback();
    } catch (error) {
      say(host.logger, 'error', `${what} threw`, { error });
    }
  };

  /** The first reason wins. Whoever owns the calls hears of it before they end one by one: one incident counts once. */
  const lose = (facts: FailureFacts): boolean => {
    if (lost !== undefined) return false;
    lost = facts;
    tell('onLost', () => host.onLost?.(facts));
    server.finish({ ...server.exit, fault: 'abandoned' });
    return true;
  };

  const ended = (): ProcessEnd => ({ pid: server.pid, ...server.exit, elapsedMs: clock.now() - startedAt });

  /** Ends what is left of the server, then the connection. */
  const bury = (facts: FailureFacts, clean: boolean): void => {
    if (!lose(facts)) return;
    void server.terminate(killGraceMs).then(() => {
      send(clean ? { type: 'link.closed', end: ended() } : { type: 'link.lost', facts, end: ended() });
    });
  };

  const connect = async (): Promise<void> => {
    // Loaded now: the SDK takes longer than all of ours, and who has no servers is spared it.
    const loaded = await import('./mcpClient.ts').catch((error: unknown) => bury(notLoaded(error), false));
    if (loaded === undefined || lost !== undefined) return;
    const { createMcpConnection, createSdkClient, readMessage } = loaded;
    const client = createSdkClient(clientInfo);
    transport.read = readMessage;
    try {
      await client.connect(transport, { timeout: unlimitedMs });
    } catch (error) {
      bury(startupFacts(error, server.end, transport.stderrTail), false);
      return;
    }
    if (lost !== undefined) return;
    const { pid, end } = server;
    if (pid === undefined || end !== undefined) {
      bury(startupFacts(undefined, end, transport.stderrTail), false);
      return;
    }
    ready = true;
    send({ type: 'link.ready', server: client.getServerVersion() });
    const connection = createMcpConnection({
      pid,
      client,
      clock,
      pingMs: settings.pingMs,
      lost: () => lost,
      lateAnswers: () => transport.lateAnswers,
      kill: (facts) => send({ type: 'link.hung', facts }),
    });
    tell('onReady', () => host.onReady?.(connection));
  };

  transport.onspawn = (pid) => {
    unregister = host.register?.({ pid, mark: server.mark, command: settings.command });
    send({ type: 'link.started', pid });
  };
  // The client puts its own listener behind this one, so the loss is known before the requests in flight are rejected.
  transport.onclose = () => {
    const { end } = server;
    if (ready && end !== undefined) bury(lossFacts(end, transport.stderrTail), isCleanExit(end));
  };
  void connect();

  return {
    close() {
      lose(stopped);
      void server.close().then(() => send({ type: 'link.closed', end: ended() }));
    },
    kill(facts) {
      bury({ ...facts, message: withStderr(facts.message, transport.stderrTail) }, false);
    },
    release() {
      lose(stopped);
      server.killNow();
      unregister?.();
    },
  };
}

function notLoaded(error: unknown): FailureFacts {
  return {
    kind: 'crash',
    reason: 'startup_failed',
    message: `The MCP client could not be loaded: ${plain(error)}`,
    outcome: 'not_started',
    cause: error,
  };
}

const stopped: FailureFacts = {
  kind: 'crash',
  reason: 'stopped',
  message: 'The server was stopped',
  outcome: 'unknown',
};
