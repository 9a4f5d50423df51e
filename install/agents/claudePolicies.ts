import { join } from 'node:path';
import type { World } from '../world.ts';

type Json = Readonly<Record<string, unknown>>;

/** A rule about servers, and the file that it stands in. */
interface ClaudePolicy {
  readonly path: string;
  readonly rule: Json;
}

/** A server that a plugin brings. */
interface PluginServer {
  /** As `market/plugin`. */
  readonly plugin: string;
  /** Its command and arguments, as far as they are given. */
  readonly words: readonly unknown[];
  /** True where settings have its plugin switched on. */
  readonly isEnabled: boolean;
}

/** A settings file of Claude Code, and what is in it. */
interface ClaudeSettings {
  readonly path: string;
  /** True where nobody but an administrator can change it. */
  readonly isManaged: boolean;
  /** True where it is the user's, and no project's, which has to be trusted before its settings approve anything. */
  readonly isOfUser: boolean;
  readonly values: Json;
}

/** Rules of Claude Code's settings on servers and hooks. */
export interface ClaudePolicies {
  readonly settings: readonly ClaudeSettings[];
  readonly denied: readonly ClaudePolicy[];
  readonly allowed: readonly ClaudePolicy[];
  readonly plugins: readonly PluginServer[];
  /** Place where hooks are switched off, and the key that does it. */
  readonly hooksOff: { readonly path: string; readonly key: string } | undefined;
}

/** Reads all settings that hold in a project. A file that cannot be read says nothing. */
export function readClaudePolicies(world: World, project: string): ClaudePolicies {
  const settings = settingsFiles(world, project).map((file) => ({ ...file, values: jsonAt(world, file.path) }));
  const rules = (key: string): readonly ClaudePolicy[] =>
    settings.flatMap(({ path, values }) => listOf(values[key]).map((rule) => ({ path, rule: recordOf(rule) })));
  return {
    settings,
    denied: rules('deniedMcpServers'),
    allowed: rules('allowedMcpServers'),
    plugins: pluginServers(world, settings),
    hooksOff: hooksOff(settings),
  };
}

function hooksOff(settings: readonly ClaudeSettings[]): ClaudePolicies['hooksOff'] {
  for (const key of ['disableAllHooks', 'allowManagedHooksOnly']) {
    const found = settings.find(({ values }) => values[key] === true);
    if (found !== undefined) return { path: found.path, key };
  }
  return undefined;
}

function settingsFiles(world: World, project: string): readonly Omit<ClaudeSettings, 'values'>[] {
  const managed = managedDirectory(world);
  const parts = join(managed, 'managed-settings.d');
  const managedPaths = [
    join(managed, 'managed-settings.json'),
    ...world.files.list(parts).map((name) => join(parts, name)),
  ];
  return [
    ...managedPaths.map((path) => ({ path, isManaged: true, isOfUser: false })),
    { path: join(claudeDirectory(world), 'settings.json'), isManaged: false, isOfUser: true },
    ...['settings.json', 'settings.local.json'].map((name) => ({
      path: join(project, '.claude', name),
      isManaged: false,
      isOfUser: false,
    })),
  ];
}

function managedDirectory({ platform, systemRoot = '/' }: World): string {
  if (platform === 'win32') return String.raw`C:\Program Files\ClaudeCode`;
  return join(systemRoot, platform === 'darwin' ? 'Library/Application Support/ClaudeCode' : 'etc/claude-code');
}

/** The words of each server of a plugin that was downloaded. Versions of before lie there too. */
function pluginServers(world: World, settings: readonly ClaudeSettings[]): readonly PluginServer[] {
  const cache = join(claudeDirectory(world), 'plugins', 'cache');
  const below = (path: string) => world.files.list(path).map((name) => ({ name, path: join(path, name) }));
  const isEnabled = (key: string): boolean =>
    settings.some(({ values }) => recordOf(values['enabledPlugins'])[key] === true);
  return below(cache)
    .flatMap((market) => below(market.path).map((plugin) => ({ ...plugin, market: market.name })))
    .flatMap(({ name, path, market }) => below(path).map((version) => ({ name, market, version: version.path })))
    .flatMap(({ name, market, version }) =>
      ['.mcp.json', join('.claude-plugin', 'plugin.json')].flatMap((file) =>
        Object.values(recordOf(jsonAt(world, join(version, file))['mcpServers'])).map((server) => {
          const { command, args } = recordOf(server);
          const words = [command, ...listOf(args)];
          return { plugin: `${market}/${name}`, words, isEnabled: isEnabled(`${name}@${market}`) };
        }),
      ),
    );
}

/** Reads what is in a JSON file; empty when it is not there, or is none. */
export function jsonAt({ files }: Pick<World, 'files'>, path: string): Json {
  try {
    return recordOf(
      JSON.parse(
        files
          .read(path)
          ?.toString('utf8')
          .replace(/^\uFEFF/, '') ?? '{}',
      ),
    );
  } catch {
    return {};
  }
}

export function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Finds the folder where Claude Code keeps what is the user's. */
export function claudeDirectory({ env, home }: Pick<World, 'env' | 'home'>): string {
  return env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
}
