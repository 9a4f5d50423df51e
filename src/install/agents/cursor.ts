import { join } from 'node:path';
import type { ConfigFile } from '../configFile.ts';
import { scalarIn } from '../tree.ts';
import { type Agent, seconds } from './agent.ts';

export const cursor: Agent = {
  name: 'cursor',
  title: 'Cursor',
  files({ home }, project) {
    return (['user', 'project'] as const).flatMap((scope): readonly ConfigFile[] => {
      const folder = join(scope === 'user' ? home : project, '.cursor');
      return [
        { agent: 'cursor', path: join(folder, 'mcp.json'), scope, format: 'json5', servers: [['mcpServers']] },
        { agent: 'cursor', path: join(folder, 'hooks.json'), scope, format: 'json5', servers: [], hooks: 'flat' },
      ];
    });
  },
  hooks: {
    // It says nothing of how long it waits: as long as the most patient of its kind.
    defaultMs: () => seconds(600),
    shell: undefined,
    leaves: ({ commandKey }) => (commandKey === 'command' ? undefined : 'Cursor does not read it'),
    blocks: ({ table }) => scalarIn(table, 'failClosed') === true,
  },
  next: ['Cursor: look into its MCP settings: it may ask whether the changed servers are to be trusted.'],
};
