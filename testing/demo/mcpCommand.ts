import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An MCP server as a command line. */
interface McpCommand {
  /** Label that people know it by. */
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
}

const referenceServer = '@modelcontextprotocol/server-everything';

/**
 * The reference server of the protocol where it is installed, else one of our own; both have the tools the tour calls.
 * @param resolve - finds a file of an installed package; throws when there is none.
 */
export function mcpCommand(resolve: (name: string) => string = createRequire(import.meta.url).resolve): McpCommand {
  try {
    const manifest = resolve(`${referenceServer}/package.json`);
    const { version, bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
      version: string;
      bin: Record<string, string>;
    };
    const [entry] = Object.values(bin);
    if (entry !== undefined) return node(`${referenceServer} ${version}`, join(dirname(manifest), entry));
  } catch {
    // Not installed: it is no dependency of the published package.
  }
  return node('our own', fileURLToPath(new URL('./demoMcpServer.js', import.meta.url)));
}

function node(label: string, script: string): McpCommand {
  return { label, command: process.execPath, args: [script] };
}
