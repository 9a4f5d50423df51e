import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Scenario } from './session.ts';
import { installed } from './ways.ts';

/** A few calls of two other servers of reference. */
export const others: readonly Scenario[] = [
  {
    says: 'writes, lists, reads and edits files of the filesystem server',
    server: (directory) => [installed('filesystem'), directory],
    run: async ({ client, directory }) => {
      const path = join(directory, 'a.txt');
      const call = (name: string, input: object) => client.callTool({ name, arguments: { ...input } });
      await client.listTools();
      await call('write_file', { path, content: 'one\ntwo\n' });
      expect(JSON.stringify(await call('list_directory', { path: directory }))).toContain('[FILE] a.txt');
      expect(JSON.stringify(await call('read_text_file', { path }))).toContain('one');
      await call('edit_file', { path, edits: [{ oldText: 'two', newText: 'three' }] });
      expect(readFileSync(path, 'utf8')).toBe('one\nthree\n');
      expect(await call('read_text_file', { path: '/etc/hostname' })).toMatchObject({ isError: true });
    },
  },
  {
    says: 'passes a megabyte to the filesystem server and gets it back',
    server: (directory) => [installed('filesystem'), directory],
    run: async ({ client, directory }) => {
      const path = join(directory, 'large.txt');
      const content = 'é€😀\n'.repeat(100_000);
      await client.callTool({ name: 'write_file', arguments: { path, content } });
      expect(readFileSync(path, 'utf8')).toBe(content);
      const read = await client.callTool({ name: 'read_text_file', arguments: { path } });
      expect(read).toMatchObject({ content: [{ type: 'text', text: content }] });
    },
  },
  {
    says: 'keeps a graph with the memory server',
    server: () => [installed('memory')],
    run: async ({ client }) => {
      const entities = [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }];
      await client.listTools();
      await client.callTool({ name: 'create_entities', arguments: { entities } });
      const found = await client.callTool({ name: 'search_nodes', arguments: { query: 'tea' } });
      expect(found).toMatchObject({ structuredContent: { entities } });
      const { resources } = await client.listResources();
      for (const { uri } of resources) await client.readResource({ uri });
    },
  },
];
