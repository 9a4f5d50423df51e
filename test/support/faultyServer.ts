import { faultyMcpServer, type FaultyMcpServer, type FaultyMcpServerOptions } from '../../testing/faultyMcpServer.ts';

/** The faulty server of `unwedge/testing`, as it is built: Node runs its program, not its source. */
export function faultyServer(options?: FaultyMcpServerOptions): FaultyMcpServer {
  const { command, args } = faultyMcpServer(options);
  const [program = '', ...rest] = args;
  return { command, args: [program.replace(/([/\\])(testing[/\\][^/\\]+)$/, '$1dist$1$2'), ...rest] };
}
