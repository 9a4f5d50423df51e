import type { ConnectionEvent, ConnectionInput, connectionMachine, ProcessEnd } from '../../machines/connection.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { failedExit, renewedExit } from '../../supervisor/exit.ts';
import { plain } from './mcpCall.ts';
import { type McpConnectionHost, tellHost } from './mcpConnectionHost.ts';
import { stopped } from './serverEnd.ts';
import { processTarget } from './mcpProcess.ts';
import { checkMcpServer, type McpServerOptions } from './mcpServerOptions.ts';
import { connectionOver, type ProcessLink } from '../process/processLink.ts';
import type { ServerTarget } from './serverLink.ts';
import { lateModule, loadFailure } from '../process/lateModule.ts';
import { filesOfClient } from './clientModule.ts';

const mcpLinkModule = lateModule(() => import('./mcpLink.ts'), filesOfClient);

export type { McpConnection } from './mcpClient.ts';
export type { McpConnectionHost } from './mcpConnectionHost.ts';
export type { McpServerOptions } from './mcpServerOptions.ts';

interface McpChild {
  readonly logic: typeof connectionMachine;
  readonly input: ConnectionInput;
}

/**
 * Makes one incarnation of an MCP server the child of a supervisor: logic and input of its actor.
 * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
 */
export function mcpChild({
  clock,
  onReady,
  onLost,
  onStray,
  register,
  logger,
  ...options
}: McpServerOptions & McpConnectionHost): McpChild {
  const host: McpConnectionHost = { clock, onReady, onLost, onStray, register, logger };
  return mcpChildOf(processTarget(checkMcpServer(options)), host);
}

/** Makes one incarnation of an MCP server, wherever it is, the child of a supervisor. */
export function mcpChildOf(target: ServerTarget, host: McpConnectionHost): McpChild {
  return {
    logic: mcpConnectionLogic(target, host),
    input: {
      command: target.command,
      handshakeMs: target.handshakeMs,
      // That a server forgets a session is to be expected: a new one is begun, and nothing is restarted.
      lostOutput: (facts) =>
        facts.reason === 'connection_closed' && facts.breaker === 'ignored'
          ? renewedExit()
          : failedExit(new AttemptError(facts)),
    },
  };
}

/**
 * The connection machine over a server process and the SDK's client. When the actor is stopped without having ended, the
 * process and everything below it gets SIGKILL at once.
 */
function mcpConnectionLogic(target: ServerTarget, host: McpConnectionHost): typeof connectionMachine {
  return connectionOver((send) => startLink(target, host, send));
}

/** Stands for the link until it is loaded. The SDK takes longer to load than all of our code; a host without servers loads neither. */
function startLink(target: ServerTarget, host: McpConnectionHost, send: (event: ConnectionEvent) => void): ProcessLink {
  const { clock } = host;
  const startedAt = clock.now();
  let link: ProcessLink | undefined;
  let isOver = false;

  /** There is no server, and none will be started. */
  const lose = (facts: FailureFacts): boolean => {
    if (isOver) return false;
    isOver = true;
    tellHost(host, 'onLost', () => host.onLost?.(facts));
    return true;
  };
  const end = (): ProcessEnd => ({ pid: undefined, elapsedMs: clock.now() - startedAt });
  const kill = (facts: FailureFacts): void => {
    if (lose(facts)) queueMicrotask(() => send({ type: 'link.lost', facts, end: end() }));
  };

  const loaded = Promise.all([mcpLinkModule(), target.load?.()]);
  clock.loading?.(loaded);
  void loaded
    .then(([{ startMcpLink }]) => {
      if (!isOver) link = startMcpLink(target, host, send, startedAt);
    })
    .catch((error: unknown) => kill(notLoaded(error)));

  return {
    close() {
      if (link !== undefined) link.close();
      else if (lose(stopped)) queueMicrotask(() => send({ type: 'link.closed', end: end() }));
    },
    kill: (facts) => (link === undefined ? kill(facts) : link.kill(facts)),
    release: () => (link === undefined ? lose(stopped) : link.release()),
  };
}

function notLoaded(error: unknown): FailureFacts {
  return loadFailure(`The MCP client could not be loaded: ${plain(error)}`, error);
}
