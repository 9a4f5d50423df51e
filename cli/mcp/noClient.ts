import type { McpProxyOptions } from '../../proxy/mcp/settings.ts';
import type { Environment } from '../../src/store/paths.ts';
import { findProgram } from '../doctor/findProgram.ts';
import { quoted } from '../sanitize.ts';

/** The exit code where nobody was there to be served. */
export const noClientCode = 1;

/** Tells whether stdin has ended before anybody wrote to it. */
export function hasNoClient(input: object): boolean {
  // A pipe, a terminal and a file count what they have read; what is none of these has read nothing.
  const { bytesRead = 0 } = input as { readonly bytesRead?: number };
  return bytesRead === 0;
}

/** Writes the message for then: that it is a client's to start this, and the obstacles that its servers would have met. */
export function noClientLines(servers: readonly McpProxyOptions[], env: Environment, cwd: string): readonly string[] {
  const missing = servers.flatMap(({ name, command, cwd: own = cwd }) => {
    if (command === undefined) return [];
    const found = findProgram(command, { env, cwd: own });
    if (found.ok) return [];
    const why = found.why === 'missing' ? 'there is no such command' : 'the file is not executable';
    return [`${name} cannot be started: ${quoted(command)}: ${why}`];
  });
  return [...missing, 'stdin ended before a client said anything; `unwedge mcp` is started by an MCP client'];
}
