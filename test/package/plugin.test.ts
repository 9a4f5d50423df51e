import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commands } from '../../cli/commands.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, root)), 'utf8');
const json = (path: string): Record<string, unknown> => JSON.parse(read(path)) as Record<string, unknown>;

const manifest = json('package.json');
const claude = 'plugins/claude';

describe('the plugin for Claude Code', () => {
  it('[E-6] is of the version of the package, and shipped with it', () => {
    const { version, license } = json(`${claude}/.claude-plugin/plugin.json`);
    expect({ version, license }).toEqual({ version: manifest['version'], license: manifest['license'] });
    expect(manifest['files']).toEqual(expect.arrayContaining([claude, '.claude-plugin']));
    expect(json('.claude-plugin/marketplace.json')['plugins']).toMatchObject([{ source: `./${claude}` }]);
  });

  it('[E-6] names commands that there are', () => {
    const pages = ['README.md', 'skills/unstuck/SKILL.md', 'commands/stuck.md', 'commands/doctor.md'];
    const named = pages.flatMap((page) =>
      [...read(`${claude}/${page}`).matchAll(/`(?:npx )?(?:-y )?unwedge ([a-z-]+)/g)].map(([, name = '']) => name),
    );
    expect(new Set(named)).toEqual(new Set(['restart', 'probe', 'cancel', 'doctor', 'install', 'mcp', 'hook']));
    for (const name of named) expect(Object.keys(commands)).toContain(name);
    expect(json(`${claude}/.mcp.json`)).toEqual({
      mcpServers: { unwedge: { command: 'npx', args: ['-y', 'unwedge', 'mcp-self'] } },
    });
    expect(Object.keys(commands)).toContain('mcp-self');
  });
});

describe('the entry for the registry of MCP servers', () => {
  it('[E-5] has what the registry asks for: a name in two parts, a short description, exact versions', () => {
    const entry = json('plugins/mcp-registry/server.json');
    expect(entry['name']).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(String(entry['description']).length).toBeLessThanOrEqual(100);
    expect(entry['version']).toBe(manifest['version']);
    expect(entry['packages']).toEqual([
      {
        registryType: 'npm',
        identifier: manifest['name'],
        version: manifest['version'],
        runtimeHint: 'npx',
        packageArguments: [{ type: 'positional', value: 'mcp-self' }],
        transport: { type: 'stdio' },
      },
    ]);
  });
});
