import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeHome } from '../startMcp.ts';
import { main } from '../startRun.ts';

const require = createRequire(import.meta.url);
const server = (name: string): string => {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  return join(dirname(manifest), 'dist', 'index.js');
};

/** A client of either official package before a real server behind `unwedge mcp`. */
async function connect(package_: 'sdk' | 'client', name: string, words: readonly string[], of: readonly string[] = []) {
  const { directory, env } = makeHome();
  const config = join(directory, 'unwedge.json');
  const tools = {
    'read_text_*': { rename: 'fetch_text_*', describe: 'Fetches.', join: true },
    'get-sum': { join: true },
  };
  writeFileSync(config, JSON.stringify({ policies: { integrations: { [name]: { tools } } } }));
  const args = [main, 'mcp', '--name', name, '--config', config, ...words, '--', process.execPath, server(name), ...of];
  const given = { command: process.execPath, args, env: env as Record<string, string>, stderr: 'ignore' } as const;
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
const names = async (client: ModernClient): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);
const text = (result: unknown): string => JSON.stringify(result);

describe.each(['sdk', 'client'] as const)('a real server by rule, for the official client (%s)', (package_) => {
  it('[P-11] [P-13] files: what may write is left out, what reads has another name, and equal reads have equal answers', async () => {
    const folder = join(makeHome().directory, 'files');
    mkdirSync(folder);
    const path = join(folder, 'a.txt');
    writeFileSync(path, 'as it is');
    const words = [
      '--allow',
      '*_file',
      '--allow',
      'list_*',
      '--deny',
      'write_*',
      '--deny',
      'edit_file',
      '--deny',
      'move_file',
      '--pin',
    ];
    const { client } = await connect(package_, 'filesystem', words, [folder]);
    const listed = await names(client);
    expect(listed).toContain('fetch_text_file');
    expect(listed.filter((name) => /write|edit|move|read_text/.test(name))).toEqual([]);
    const reads = await Promise.all(
      [1, 2, 3].map(() => client.callTool({ name: 'fetch_text_file', arguments: { path } })),
    );
    for (const read of reads) expect(text(read)).toContain('as it is');
    const refused = await client.callTool({ name: 'write_file', arguments: { path, content: 'gone' } });
    expect(text(refused)).toContain('`deny: write_*`');
    expect(readFileSync(path, 'utf8')).toBe('as it is');
  });

  it('[P-11] memory: a graph that may be read and not changed', async () => {
    const { client } = await connect(package_, 'memory', [
      '--deny',
      'create_*',
      '--deny',
      'delete_*',
      '--deny',
      'add_*',
      '--pin',
    ]);
    expect(await names(client)).toEqual(['read_graph', 'search_nodes', 'open_nodes']);
    expect(text(await client.callTool({ name: 'read_graph', arguments: {} }))).toContain('entities');
    expect(text(await client.callTool({ name: 'create_entities', arguments: { entities: [] } }))).toContain(
      '`deny: create_*`',
    );
  });

  it('[P-11] [P-13] everything: prompts and resources as ever, and progress to each who asked for it', async () => {
    const { client } = await connect(package_, 'everything', [
      '--allow',
      'get-*',
      '--allow',
      'echo',
      '--allow',
      'trigger-*',
    ]);
    expect((await names(client)).every((name) => /^(get-|trigger-|echo)/.test(name))).toBe(true);
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
    expect((await client.listResources()).resources.length).toBeGreaterThan(0);
    expect(text(await client.callTool({ name: 'echo', arguments: { message: 'there' } }))).toContain('there');
  });
});
