import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHome } from '../startMcp.ts';
import { type ModernClient, officialPackages, startOfficial } from '../startOfficial.ts';

const tools = {
  'read_text_*': { rename: 'fetch_text_*', describe: 'Fetches.', join: true },
  'get-sum': { join: true },
};
const connect = (
  package_: (typeof officialPackages)[number],
  name: string,
  words: readonly string[],
  of: readonly string[] = [],
) => startOfficial(package_, name, { words, of, tools });
const names = async (client: ModernClient): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);
const text = (result: unknown): string => JSON.stringify(result);

describe.each(officialPackages)('a real server by rule, for the official client (%s)', (package_) => {
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
