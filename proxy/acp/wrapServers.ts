import { fieldsOf, type McpParams, type McpRequest, memberSpan } from '../../src/protocol/mcp/face.ts';

/** Program words that start `unwedge`. */
export interface OwnWords {
  readonly command: string;
  readonly args: readonly string[];
  /** Options for each `unwedge mcp`. @defaultValue none */
  readonly options?: readonly string[] | undefined;
}

/** Makes what the agent is sent of a request of its client. */
export type WrapServers = (request: McpRequest, text: string) => { readonly params: McpParams; readonly text: string };

/** Leaves every request as it is. */
export const asTheyAre: WrapServers = ({ params }, text) => ({ params, text });

/**
 * Puts the MCP servers that a client hands to a session behind `unwedge mcp`: those that are commands. One that is behind it already, and one that is reached
 * by HTTP, stay as they are.
 */
export function wrapServers(own: OwnWords): WrapServers {
  return (request, text) => {
    const { mcpServers } = request.params;
    if (!Array.isArray(mcpServers)) return { params: request.params, text };
    const servers = mcpServers.map((server: unknown) => wrapped(fieldsOf(server), own));
    if (servers.every((server, index) => server === mcpServers[index])) return { params: request.params, text };
    const params = memberSpan(text, 'params');
    const span = params === undefined ? undefined : memberSpan(text, 'mcpServers', params.start);
    if (span === undefined) return { params: request.params, text };
    const changed = text.slice(0, span.start) + JSON.stringify(servers) + text.slice(span.end);
    return { params: { ...request.params, mcpServers: servers }, text: changed };
  };
}

function wrapped(server: McpParams, { command: program, args: words, options = [] }: OwnWords): McpParams {
  const { name, command, args: given, type } = server;
  const args: readonly unknown[] | undefined = Array.isArray(given) ? given : undefined;
  const isCommand = typeof command === 'string' && (type === undefined || type === 'stdio');
  if (!isCommand || args === undefined || isOwn([command, ...args], program)) return server;
  const named = typeof name === 'string' && name !== '' ? ['--name', name] : [];
  return { ...server, command: program, args: [...words, 'mcp', ...named, ...options, '--', command, ...args] };
}

const isOwn = (words: readonly unknown[], program: string): boolean =>
  words.includes('mcp') &&
  words.some(
    (word) => word === program || (typeof word === 'string' && /(?:^|[\\/])unwedge(?:@|$|[\\/]dist)/.test(word)),
  );
