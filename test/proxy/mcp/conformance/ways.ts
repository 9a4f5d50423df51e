import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';

/** How a client gets to a server. */
export type Way = 'directly' | 'through the proxy' | 'by HTTP';

export const ways: readonly Way[] = ['directly', 'through the proxy'];

/** Options of a stdio client. */
export interface CommandLine {
  readonly command: string;
  readonly args: string[];
}

const main = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));

/** The command line that a client is configured with: the server, or the proxy in front of it. */
export function commandLine(way: Way, server: readonly string[], options: readonly string[] = []): CommandLine {
  const args = way === 'directly' ? [] : [main, 'mcp', ...options, '--', process.execPath];
  return { command: process.execPath, args: [...args, ...server] };
}

/** Where a client by HTTP finds a server, and what it shows there. */
export interface Address {
  readonly url: URL;
  readonly requestInit: { readonly headers: Record<string, string> };
}

/** Offers a server by HTTP for as long as the test takes. */
export async function offer(
  server: readonly string[],
  env: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<Address & { readonly child: ChildProcess }> {
  const args = [main, 'mcp', '--listen', '127.0.0.1:0', ...options, '--', process.execPath, ...server];
  const child = spawn(process.execPath, args, { env: { ...getDefaultEnvironment(), ...env } });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill();
    await exited;
  });
  let text = '';
  for await (const chunk of child.stderr) {
    text += String(chunk);
    const line = text.split('\n').find((each) => each.startsWith('{"mcpServers"'));
    if (line === undefined || !text.includes(`${line}\n`)) continue;
    child.stderr.resume();
    const { mcpServers } = JSON.parse(line) as {
      readonly mcpServers: Readonly<
        Record<string, { readonly url: string; readonly headers?: Record<string, string> }>
      >;
    };
    const [{ url, headers = {} } = { url: '' }] = Object.values(mcpServers);
    return { url: new URL(url), requestInit: { headers }, child };
  }
  throw new Error(`It did not say where it is: ${text}`);
}

/** The entry of an installed server. */
export const installed = (name: string): string =>
  fileURLToPath(
    new URL(`../../../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url),
  );
