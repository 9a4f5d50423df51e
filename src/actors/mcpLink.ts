import type { ConnectionEvent, ProcessEnd } from '../machines/connection.ts';
import type { FailureFacts } from '../policy/failure.ts';
import { unlimitedMs } from './mcpCall.ts';
import { createMcpConnection, createSdkClient, readMessage } from './mcpClient.ts';
import { type McpConnectionHost, stopped, tellHost } from './mcpConnectionHost.ts';
import { startupFacts } from './mcpLoss.ts';
import type { McpServerSettings } from './mcpServerOptions.ts';
import { McpTransport } from './mcpTransport.ts';
import { killGraceMs, type ProcessLink } from './processLink.ts';
import { isCleanExit, lossFacts, withStderr } from './serverEnd.ts';

/** How the server is told who we are; the version is that of the package. */
export const clientInfo = { name: 'unwedge', version: '0.1.0' } as const;

/**
 * Starts a server and connects to it.
 * @param startedAt - when its incarnation began, in ms of the host's clock.
 */
export function startMcpLink(
  settings: McpServerSettings,
  host: McpConnectionHost,
  send: (event: ConnectionEvent) => void,
  startedAt: number,
): ProcessLink {
  const { clock } = host;
  const transport = new McpTransport(settings, clock, (stream, line) => host.onStray?.(stream, line));
  const { process: server } = transport;
  let ready = false;
  let lost: FailureFacts | undefined;
  let unregister: (() => void) | undefined;

  /** The first reason wins. Whoever owns the calls hears of it before they end one by one: one incident counts once. */
  const lose = (facts: FailureFacts): boolean => {
    if (lost !== undefined) return false;
    lost = facts;
    tellHost(host, 'onLost', () => host.onLost?.(facts));
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
    tellHost(host, 'onReady', () => host.onReady?.(connection));
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
