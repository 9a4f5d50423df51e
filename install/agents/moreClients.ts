import { join } from 'node:path';
import type { ConfigFile, Scope } from '../configFile.ts';
import { numberIn, scalarIn, tableAt, textsOf } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, type HookRules, inMs, seconds } from './agent.ts';

const inTable = ['mcpServers'];
const restart = (title: string): readonly string[] => [`${title} reads its configuration at its next start.`];
const msOf: Agent['callLimitMs'] = ({ table }) => numberIn(table, 'timeout');

/** Claude Desktop: strict JSON (modelcontextprotocol.io/docs/develop/connect-local-servers). The package of the Microsoft Store has a folder of its own. */
export const claudeDesktop: Agent = {
  name: 'claude-desktop',
  title: 'Claude Desktop',
  triedOn: [],
  files(world) {
    const local = world.env['LOCALAPPDATA'] || join(world.home, 'AppData', 'Local');
    const packages = world.platform === 'win32' ? world.files.list(join(local, 'Packages')) : [];
    return [
      settingsDirectory(world),
      ...packages
        .filter((name) => name.startsWith('Claude_'))
        .map((name) => join(local, 'Packages', name, 'LocalCache', 'Roaming')),
    ].map((folder) => ({
      agent: 'claude-desktop',
      path: join(folder, 'Claude', 'claude_desktop_config.json'),
      scope: 'user',
      format: 'json',
      servers: [inTable],
    }));
  },
  next: ['Claude Desktop: quit it as a whole and start it again.'],
};

/** Folder in which programs with a window keep the settings of the user. */
export function settingsDirectory({ platform, home, env }: World): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] || join(home, 'AppData', 'Roaming');
  return env['XDG_CONFIG_HOME'] || join(home, '.config');
}

/** Rules by which Gemini CLI runs hooks. It ends one at its limit with SIGTERM alone, and waits for ever for one that ignores that (0.61.0). */
const geminiHooks: HookRules = {
  defaultMs: () => seconds(60),
  unitMs: 1,
  shell: 'bash -c',
  leaves({ table, command, isShell }, { root }) {
    const off = textsOf(tableAt(root, ['hooksConfig'])?.fields.get('disabled')?.value) ?? [];
    const name = scalarIn(table, 'name') ?? command.value;
    if (off.some(({ value }) => value === name)) return 'it is disabled';
    if (!isShell) return 'Gemini CLI does not read it';
    // It puts quoted text in their places, which within other quotes would be other text.
    return /\$(?:GEMINI|CLAUDE)_/.test(command.value) ? 'Gemini CLI fills in a folder there by its text' : undefined;
  },
  blocks: () => false,
};

/** Gemini CLI: comments, but no trailing commas (0.61.0). */
export const gemini: Agent = {
  name: 'gemini',
  title: 'Gemini CLI',
  triedOn: ['linux'],
  files: ({ home }, project) =>
    (
      [
        [home, 'user'],
        [project, 'project'],
      ] as const
    ).map(([folder, scope]) => ({
      agent: 'gemini',
      path: join(folder, '.gemini', 'settings.json'),
      scope,
      format: 'jsonc',
      servers: [inTable],
      hooks: 'grouped',
    })),
  leavesServer: ({ table }) =>
    ['url', 'httpUrl'].some((key) => table.fields.has(key))
      ? 'Gemini CLI takes its address before its command'
      : undefined,
  callLimitMs: msOf,
  hooks: geminiHooks,
  next: restart('Gemini CLI'),
};

/** opencode: three files of the user, two names in each folder of a project, comments and trailing commas (1.18.33). */
export const opencode: Agent = {
  name: 'opencode',
  title: 'opencode',
  triedOn: ['linux'],
  files({ home, env }, project) {
    const own = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opencode');
    const names = ['opencode.json', 'opencode.jsonc'];
    const ofUser = [own, join(home, '.opencode'), ...given(env['OPENCODE_CONFIG_DIR'])];
    const file = (path: string, scope: Scope): ConfigFile => ({
      agent: 'opencode',
      path,
      scope,
      format: 'json5',
      servers: [['mcp']],
      command: { key: 'command', isList: true },
    });
    return [
      ...[join(own, 'config.json'), ...given(env['OPENCODE_CONFIG'])].map((path) => file(path, 'user')),
      ...ofUser.flatMap((folder) => names.map((name) => file(join(folder, name), 'user'))),
      ...[project, join(project, '.opencode')].flatMap((folder) =>
        names.map((name) => file(join(folder, name), 'project')),
      ),
    ];
  },
  localTypes: ['local'],
  callLimitMs: msOf,
  next: restart('opencode'),
};

/** goose: YAML, which it writes anew without comments when it is configured (1.52.0). */
export const goose: Agent = {
  name: 'goose',
  title: 'goose',
  triedOn: ['linux'],
  files({ platform, home, env }) {
    const root = env['GOOSE_PATH_ROOT'];
    const folder =
      platform === 'win32'
        ? join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'Block', 'goose', 'config')
        : join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'goose');
    return [
      {
        agent: 'goose',
        path: join(root === undefined ? folder : join(root, 'config'), 'config.yaml'),
        scope: 'user',
        format: 'yaml',
        servers: [['extensions']],
        command: { key: 'cmd' },
      },
    ];
  },
  callLimitMs: ({ table }) => inMs(numberIn(table, 'timeout')),
  next: ['goose starts the changed extensions with its next session.'],
};

/** Copilot CLI: comments and trailing commas in the file of the user (1.0.102). */
export const copilot: Agent = {
  name: 'copilot',
  title: 'Copilot CLI',
  triedOn: ['linux'],
  files: ({ home, env }, project) => [
    {
      agent: 'copilot',
      path: join(env['COPILOT_HOME'] || join(home, '.copilot'), 'mcp-config.json'),
      scope: 'user',
      format: 'json5',
      servers: [inTable],
    },
    {
      agent: 'copilot',
      path: join(project, '.github', 'mcp.json'),
      scope: 'project',
      format: 'json5',
      servers: [inTable],
    },
  ],
  localTypes: ['local', 'stdio'],
  callLimitMs: msOf,
  next: restart('Copilot CLI'),
};

const given = (path: string | undefined): readonly string[] => (path === undefined || path === '' ? [] : [path]);
