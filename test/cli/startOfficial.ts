import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { onTestFinished } from 'vitest';
import { makeHome } from './startMcp.ts';
import { main } from './startRun.ts';

export type { ModernClient };

/** The official packages, one of each era. */
export const officialPackages = ['sdk', 'client'] as const;

const require = createRequire(import.meta.url);
const server = (name: string): string => {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return join(dirname(manifest), 'dist', 'index.js');
};

interface OfficialOptions {
  /** Of `unwedge mcp`. */
  readonly words: readonly string[];
  /** Of the server. */
  readonly of?: readonly string[];
  /** Settings by tool, in the configuration. */
  readonly tools?: object;
  readonly env?: Readonly<Record<string, string>>;
}

/** A client of either official package before a real server behind `unwedge mcp`. */
export async function startOfficial(
  package_: (typeof officialPackages)[number],
  name: string,
  { words, of = [], tools = {}, env: more = {} }: OfficialOptions,
) {
  const { directory, env } = makeHome();
  const config = join(directory, 'unwedge.json');
  writeFileSync(config, JSON.stringify({ policies: { integrations: { [name]: { tools } } } }));
  const args = [main, 'mcp', '--name', name, '--config', config, ...words, '--', process.execPath, server(name), ...of];
  const given = {
    command: process.execPath,
    args,
    env: { ...(env as Record<string, string>), ...more },
    stderr: 'ignore',
  } as const;
  const about = { name: 'test', version: '1' };
  if (package_ === 'sdk') {
    const client = new Client(about);
    await client.connect(new StdioClientTransport(given));
    onTestFinished(() => client.close());
    return { directory, client: client as unknown as ModernClient };
  }
  const client = new ModernClient(about, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new ModernTransport(given));
  onTestFinished(() => client.close());
  return { directory, client };
}
