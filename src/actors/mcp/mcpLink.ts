import type { Client, ElicitResult } from '@modelcontextprotocol/client';
import type { ConnectionEvent } from '../../machines/connection.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import type { ProcessLink } from '../process/processLink.ts';
import { isServerError, lostRequestIn, plain, unlimitedMs } from './mcpCall.ts';
import { createMcpConnection, createSdkClient, type McpRequestContext, readMessage } from './mcpClient.ts';
import { type McpConnectionHost, tellHost } from './mcpConnectionHost.ts';
import { McpTransport } from './mcpTransport.ts';
import { deed, isCleanExit, lossFacts, serverLoss, stopped, withStderr } from './serverEnd.ts';
import type { ServerEnd, ServerTarget } from './serverLink.ts';

/** Our name and version, for the server; the version is that of the package. */
export const clientInfo = { name: 'unwedge', version: '0.1.0' } as const;

/**
 * Starts a server and connects to it.
 * @param startedAt - when its incarnation began, in ms of the host's clock.
 */
export function startMcpLink(
  target: ServerTarget,
  host: McpConnectionHost,
  send: (event: ConnectionEvent) => void,
  startedAt: number,
): ProcessLink {
  const { clock } = host;
  const transport = new McpTransport(target, clock, (stream, line) => host.onStray?.(stream, line));
  const { server } = transport;
  const { mark } = server;
  const registered = mark === undefined ? undefined : host.register?.({ mark, command: target.command });
  let ready = false;

  const loss = serverLoss(server, clock, startedAt, send, (facts) => {
    tellHost(host, 'onLost', () => host.onLost?.(facts));
  });

  const connect = async (): Promise<void> => {
    const { eras } = target;
    const isLegacy = eras === undefined || eras.known === 'legacy';
    const { elicit } = host;
    const client = createSdkClient(clientInfo, !isLegacy, elicit !== undefined);
    const calls = new Set<McpRequestContext>();
    if (elicit !== undefined)
      client.setRequestHandler(
        'elicitation/create',
        async ({ params }, { mcpReq }) => (await elicit({ ...params }, mcpReq.signal, calls)) as ElicitResult,
      );
    transport.read = readMessage;
    try {
      await client.connect(transport, { timeout: unlimitedMs });
    } catch (error) {
      eras?.learn(undefined);
      loss.bury(startupFacts(error, server.end, transport.lastWords), false);
      return;
    }
    if (loss.facts !== undefined) return;
    const { pid, end } = server;
    if (end !== undefined) {
      loss.bury(startupFacts(undefined, end, transport.lastWords), false);
      return;
    }
    ready = true;
    transport.greeted();
    eras?.learn(client.getProtocolEra());
    send({ type: 'link.ready', server: client.getServerVersion() });
    const connection = createMcpConnection({
      pid,
      client,
      calls,
      clock,
      pingMs: target.pingMs,
      lost: () => loss.facts,
      lateAnswers: () => transport.lateAnswers,
      kill: (facts) => send({ type: 'link.hung', facts }),
      onNotice: (listener) => {
        transport.onnotice = listener;
      },
    });
    tellHost(host, 'onReady', () => host.onReady?.(connection));
    listenForTools(client);
  };

  transport.onspawn = (pid) => {
    if (pid === undefined) return;
    registered?.started(pid);
    send({ type: 'link.started', pid });
  };
  // The client puts its own listener behind this one, so the loss is known before the requests in flight are rejected.
  transport.onclose = () => {
    const { end } = server;
    if (ready && end !== undefined) loss.bury(lossFacts(end, transport.lastWords), isCleanExit(end));
  };
  void connect();

  return {
    close() {
      loss.lose(stopped);
      loss.closed(server.close());
    },
    kill(facts) {
      loss.bury({ ...facts, message: withStderr(facts.message, transport.lastWords) }, false);
    },
    release() {
      loss.lose(stopped);
      server.killNow();
      registered?.ended();
    },
  };
}

/** In the stateless era a server tells only those of its changes who asked; the link keeps the question open. */
function listenForTools(client: Client): void {
  if (client.getProtocolEra() !== 'modern' || client.getServerCapabilities()?.tools?.listChanged !== true) return;
  client.listen({ toolsListChanged: true }, { timeout: unlimitedMs }).catch(() => undefined);
}

/** Why a server did not come up: it could not be started, ended before it answered, or refused. */
function startupFacts(error: unknown, end: ServerEnd | undefined, stderr: string): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  if (end?.facts !== undefined) return end.facts;
  const lost = lostRequestIn(error);
  if (lost !== undefined) return lost;
  if (end !== undefined && end.fault !== 'message_too_large') {
    return {
      kind: 'crash',
      reason: 'startup_failed',
      message: withStderr(`The server ${deed(end)} before it answered initialize`, stderr),
      outcome: 'not_started',
      code: end.signal ?? end.exitCode,
    };
  }
  return {
    kind: 'protocol',
    reason: end === undefined ? 'init_rejected' : 'message_too_large',
    message: withStderr(end === undefined ? `initialize failed: ${plain(error)}` : `The server ${deed(end)}`, stderr),
    outcome: 'not_started',
    code: isServerError(error) ? error.code : undefined,
    cause: error,
  };
}
