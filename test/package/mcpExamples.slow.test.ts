import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(path(`examples/${name}`), 'utf8');

interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
}

function claudeEntry(): ServerEntry {
  const { mcpServers } = JSON.parse(read('claude-mcp.json')) as { mcpServers: Record<string, ServerEntry> };
  return mcpServers['everything'] ?? { command: '', args: [] };
}

/** As much of the file as the example needs. */
function codexEntry(): ServerEntry {
  const text = read('codex-config.toml').replaceAll(/^\s*#.*$/gm, '');
  const [, list = ''] = /^args = \[([^\]]*)\]/m.exec(text) ?? [];
  const [, command = ''] = /^command = "(.*)"$/m.exec(text) ?? [];
  return { command, args: [...list.matchAll(/"([^"]*)"/g)].map(([, word = '']) => word) };
}

/** What `npx` would fetch, from what is installed here. */
function local({ command, args }: ServerEntry): string[] {
  const words = [command, ...args].join('\n');
  const everything = path('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
  return words
    .replace('npx\n-y\nunwedge', path('dist/cli/main.js'))
    .replace('npx\n-y\n@modelcontextprotocol/server-everything', `${process.execPath}\n${everything}`)
    .split('\n');
}

describe('the examples for agents', () => {
  it.each([
    ['claude-mcp.json', claudeEntry],
    ['codex-config.toml', codexEntry],
  ])('[P-3] have an agent talk to its server through the proxy: %s', async (_, entry) => {
    const args = local(entry());
    expect(args[0]).toBe(path('dist/cli/main.js'));
    const env = { ...process.env, UNWEDGE_DB: join(temporaryDirectory(), 'db.sqlite') } as Record<string, string>;
    const client = new Client({ name: 'test', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
    const answer = await client.callTool({ name: 'echo', arguments: { message: 'hello' } });
    expect(answer).toMatchObject({ content: [{ text: 'Echo: hello' }] });
  });

  it('[P-1] give up a call before Codex does', () => {
    const [, seconds = ''] = /^tool_timeout_sec = (\d+)$/m.exec(read('codex-config.toml')) ?? [];
    const { args } = codexEntry();
    expect(args[args.indexOf('--call-timeout') + 1]).toBe(`${Number(seconds) - 10}s`);
  });
});
