import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { wordsOf } from '../entry.ts';
import type { World } from '../world.ts';
import type { Reason, Rules } from './agent.ts';
import { claudeDirectory } from './claudeDirectory.ts';

type Json = Readonly<Record<string, unknown>>;

/** What settings of Claude Code say about servers and hooks, and which servers plugins bring. Files that cannot be read say nothing. */
export function claudeRules(world: World, project: string): Rules {
  const settings = settingsFiles(world, project).map((path) => ({ path, ...jsonAt(world, path) }));
  const lists = (key: string) =>
    settings.flatMap(({ path, ...own }) => listOf((own as Json)[key]).map((rule) => ({ path, rule: recordOf(rule) })));
  const denied = lists('deniedMcpServers');
  const allowed = lists('allowedMcpServers').find(({ rule }) => rule['serverCommand'] !== undefined);
  const ofPlugins = pluginServers(world);
  return {
    server(program): Reason {
      const words = wordsOf(program);
      const name = program.path.at(-1);
      const deny = denied.find(
        ({ rule }) => rule['serverName'] === name || isDeepStrictEqual(rule['serverCommand'], words),
      );
      if (deny !== undefined) return `it is denied by ${deny.path}`;
      if (allowed !== undefined) return `${allowed.path} allows commands by their words, which would be others`;
      const plugin = ofPlugins.find((each) => isDeepStrictEqual(each.words, words));
      // Claude Code tells the two apart by their words, and starts one of them while they are the same.
      return plugin === undefined ? undefined : `the plugin ${plugin.plugin} brings the same: both would run`;
    },
    hooks: whyNoHooks(settings),
  };
}

function whyNoHooks(settings: readonly (Json & { readonly path: string })[]): Reason {
  for (const key of ['disableAllHooks', 'allowManagedHooksOnly']) {
    const found = settings.find((own) => own[key] === true);
    if (found !== undefined) return `${found.path} says \`${key}\``;
  }
  return undefined;
}

function settingsFiles(world: World, project: string): readonly string[] {
  const managed = managedDirectory(world);
  const parts = join(managed, 'managed-settings.d');
  return [
    join(managed, 'managed-settings.json'),
    ...world.files.list(parts).map((name) => join(parts, name)),
    join(claudeDirectory(world), 'settings.json'),
    join(project, '.claude', 'settings.json'),
    join(project, '.claude', 'settings.local.json'),
  ];
}

function managedDirectory({ platform, systemRoot = '/' }: World): string {
  if (platform === 'win32') return String.raw`C:\Program Files\ClaudeCode`;
  return join(systemRoot, platform === 'darwin' ? 'Library/Application Support/ClaudeCode' : 'etc/claude-code');
}

/** The words of each server of a plugin that was downloaded: which of them are in use is for Claude Code to know. */
function pluginServers(world: World): readonly { readonly plugin: string; readonly words: readonly unknown[] }[] {
  const cache = join(claudeDirectory(world), 'plugins', 'cache');
  const below = (path: string) => world.files.list(path).map((name) => join(path, name));
  return below(cache)
    .flatMap(below)
    .flatMap((plugin) => below(plugin).map((version) => ({ plugin, version })))
    .flatMap(({ plugin, version }) =>
      ['.mcp.json', join('.claude-plugin', 'plugin.json')].flatMap((file) =>
        Object.values(recordOf(jsonAt(world, join(version, file))['mcpServers'])).map((server) => {
          const { command, args } = recordOf(server);
          return { plugin: plugin.slice(cache.length + 1), words: [command, ...listOf(args)] };
        }),
      ),
    );
}

function jsonAt({ files }: World, path: string): Json {
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

function recordOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
