import { join } from 'node:path';
import type { ConfigFile } from '../configFile.ts';
import { readValue } from '../document.ts';
import { numberIn, scalarIn } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, type HookRules, inMs, type Reason, seconds } from './agent.ts';

/** Its first request has the tools of those servers alone that have answered within 1 to 2 s: one that a second program starts needs longer. */
export const startupGrace = {
  key: 'mcp_optional_startup_grace_ms',
  value: 8000,
  why: 'Codex waits up to 8 s for its servers, so that its first request has their tools',
} as const;

const codexHooks: HookRules = {
  defaultMs: () => seconds(600),
  shell: '"$SHELL" -lc',
  leaves({ commandKey, isShell, command }): Reason {
    if (commandKey !== 'command' || !isShell) return 'it is for another system';
    // In single quotes fish reads a backslash, which other shells do not.
    return command.value.includes('\\') ? 'it has a backslash, which shells quote in different ways' : undefined;
  },
  blocks: () => false,
  onRequest: 'Codex would not run it before you trust it anew: --codex-hooks',
};

export const codex: Agent = {
  name: 'codex',
  title: 'Codex',
  triedOn: ['linux'],
  // Of more than 12 kB it leaves out the middle, and says that 8 tokens are missing (0.166).
  maxResult: '10kB',
  files(world, project) {
    const own = world.env['CODEX_HOME'] || join(world.home, '.codex');
    const folder = join(project, '.codex');
    const profiles = world.files.list(own).filter((name) => name.endsWith('.config.toml'));
    const toml = (path: string, scope: ConfigFile['scope']): ConfigFile => ({
      agent: 'codex',
      path,
      scope,
      format: 'toml',
      servers: [['mcp_servers']],
      hooks: 'grouped',
      setting: startupGrace,
    });
    const hooks = (path: string, scope: ConfigFile['scope']): ConfigFile => ({
      ...toml(path, scope),
      format: 'json',
      servers: [],
      setting: undefined,
    });
    return [
      ...['config.toml', ...profiles].map((name) => toml(join(own, name), 'user')),
      hooks(join(own, 'hooks.json'), 'user'),
      toml(join(folder, 'config.toml'), 'project'),
      hooks(join(folder, 'hooks.json'), 'project'),
    ];
  },
  rules(world) {
    const path = join(world.systemRoot ?? '/', 'etc', 'codex', 'requirements.toml');
    const why = hasServerRules(world, path)
      ? `${path} allows servers by their commands, which would be others`
      : undefined;
    return { server: () => why, hooks: undefined };
  },
  leavesServer({ table }) {
    const environment = scalarIn(table, 'experimental_environment');
    return environment === undefined || environment === 'local'
      ? undefined
      : `it runs elsewhere (${String(environment)})`;
  },
  callLimitMs: ({ table }) => inMs(numberIn(table, 'tool_timeout_sec')),
  hooks: codexHooks,
  next: ['Codex reads its configuration at its next start.'],
};

function hasServerRules({ files }: World, path: string): boolean {
  const bytes = files.read(path);
  if (bytes === undefined) return false;
  try {
    return Object.hasOwn(readValue(bytes.toString('utf8'), 'toml') as object, 'mcp_servers');
  } catch {
    // A file that cannot be read may say so.
    return true;
  }
}
