import { fileURLToPath } from 'node:url';

/** How a client gets to a server. */
export type Way = 'directly' | 'through the proxy';

export const ways: readonly Way[] = ['directly', 'through the proxy'];

/** Options of a stdio client. */
export interface CommandLine {
  readonly command: string;
  readonly args: string[];
}

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** The command line that a client is configured with: the server, or the proxy in front of it. */
export function commandLine(way: Way, server: readonly string[], options: readonly string[] = []): CommandLine {
  const args = way === 'directly' ? [] : [main, 'mcp', ...options, '--', process.execPath];
  return { command: process.execPath, args: [...args, ...server] };
}

/** The entry of an installed server. */
export const installed = (name: string): string =>
  fileURLToPath(new URL(`../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
