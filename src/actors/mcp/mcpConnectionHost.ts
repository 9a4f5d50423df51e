import type { RegisterChild } from '../../policy/records/childRecord.ts';
import type { Clock } from '../../policy/clock.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { type Logger, say } from '../../policy/text/logger.ts';
import type { McpParams } from '../../protocol/mcp/message.ts';
import type { McpConnection, McpRequestContext } from './mcpClient.ts';
import type { StrayListener } from './mcpTransport.ts';

/** Listeners of a connection. What a callback throws is logged and goes no further. */
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
  /** Answers elicitations of the server. @defaultValue it is told that nobody can be asked */
  readonly elicit?: AskedByServer | undefined;
}

/** Answers an elicitation, in the form of the protocol; `calls` are those of tools under way. Must not reject. */
export type AskedByServer = (
  params: McpParams,
  signal: AbortSignal,
  calls: ReadonlySet<McpRequestContext>,
) => Promise<McpParams>;

/** Runs a callback of a host. @param what - its name. */
export function tellHost({ logger }: McpConnectionHost, what: string, callback: () => void): void {
  try {
    callback();
  } catch (error) {
    say(logger, 'error', `${what} threw`, { error });
  }
}
