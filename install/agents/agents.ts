import { dirname, join, resolve } from 'node:path';
import type { AgentName, ConfigFile } from '../configFile.ts';
import { readDocument } from '../document.ts';
import { DocumentError, isText, numberIn, scalarIn, tableAt, textsOf } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, type HookRules, inMs, type Reason, type Rules, seconds } from './agent.ts';
import { acpx, jetbrains, zed } from './acpClients.ts';
import { codex } from './codex.ts';
import { claudeDesktop, copilot, gemini, goose, opencode, settingsDirectory } from './moreClients.ts';
import { isDeepStrictEqual } from 'node:util';
import { wordsOf } from '../entry.ts';
import { claudeDirectory, type ClaudePolicies, readClaudePolicies } from './claudePolicies.ts';

const claudeServers = [['mcpServers']];
/** Ends all hooks of its event together after so long, unless they ask for more. */
const mostOfSessionEndMs = seconds(60);

/** Rules by which Claude Code runs hooks. */
const claudeHooks: HookRules = {
  defaultMs(event) {
    if (event === 'SessionEnd') return undefined;
    if (event === 'MessageDisplay') return seconds(10);
    return event === 'UserPromptSubmit' || event.endsWith('ModelSwitch') ? seconds(30) : seconds(600);
  },
  mostMs: (event) => (event === 'SessionEnd' ? mostOfSessionEndMs : undefined),
  shell: '/bin/sh -c',
  leaves({ table, commandKey, isShell, command }) {
    if (commandKey !== 'command') return 'Claude Code does not read it';
    const shell = scalarIn(table, 'shell');
    if (isShell && shell !== undefined) return `it is for a shell of its own (${String(shell)})`;
    return isShell && command.value.includes('${CLAUDE_PLUGIN_') ? 'it belongs to a plugin' : undefined;
  },
  blocks: ({ table }) => scalarIn(table, 'onFailure') === 'block',
};

export const claude: Agent = {
  name: 'claude',
  title: 'Claude Code',
  triedOn: ['linux'],
  files(world, project) {
    const own = claudeDirectory(world);
    const state = join(world.env['CLAUDE_CONFIG_DIR'] || world.home, '.claude.json');
    const settings = (path: string, scope: ConfigFile['scope']): ConfigFile => ({
      agent: 'claude',
      path,
      scope,
      format: 'json',
      servers: [],
      hooks: 'grouped',
    });
    return [
      {
        agent: 'claude',
        path: state,
        scope: 'user',
        format: 'json',
        servers: [...claudeServers, ['projects', '*', 'mcpServers']],
        lock: `${state}.lock`,
      },
      settings(join(own, 'settings.json'), 'user'),
      settings(join(project, '.claude', 'settings.local.json'), 'local'),
      settings(join(project, '.claude', 'settings.json'), 'project'),
      { agent: 'claude', path: join(project, '.mcp.json'), scope: 'project', format: 'json', servers: claudeServers },
    ];
  },
  rules: claudeRules,
  callLimitMs({ table }) {
    const limitMs = numberIn(table, 'timeout');
    // It takes no notice of a shorter one.
    return limitMs !== undefined && limitMs >= 1000 ? limitMs : undefined;
  },
  hooks: claudeHooks,
  next: [
    'Servers: from the next session of Claude Code on. Hooks: from the next turn on.',
    'Cursor and VS Code may read the same settings and .mcp.json: what was changed there holds for them too.',
  ],
};

/** Reads what settings of Claude Code say about servers and hooks, and which servers plugins bring. Files that cannot be read say nothing. */
function claudeRules(world: World, project: string): Rules {
  const policies = readClaudePolicies(world, project);
  const { denied, plugins } = policies;
  const allowed = policies.allowed.find(({ rule }) => rule['serverCommand'] !== undefined);
  return {
    server(program): Reason {
      const words = wordsOf(program);
      const name = program.path.at(-1);
      const deny = denied.find(
        ({ rule }) => rule['serverName'] === name || isDeepStrictEqual(rule['serverCommand'], words),
      );
      if (deny !== undefined) return `it is denied by ${deny.path}`;
      if (allowed !== undefined) return `${allowed.path} allows commands by their words, which would be others`;
      const plugin = plugins.find((each) => isDeepStrictEqual(each.words, words));
      // Claude Code tells the two apart by their words, and starts one of them while they are the same.
      return plugin === undefined ? undefined : `the plugin ${plugin.plugin} brings the same: both would run`;
    },
    hooks: whyNoHooks(policies),
  };
}

function whyNoHooks({ hooksOff }: ClaudePolicies): Reason {
  return hooksOff === undefined ? undefined : `${hooksOff.path} says \`${hooksOff.key}\``;
}

const cursor: Agent = {
  name: 'cursor',
  title: 'Cursor',
  triedOn: [],
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

const vscode: Agent = {
  name: 'vscode',
  title: 'VS Code',
  triedOn: [],
  files(world, project) {
    const user = join(settingsDirectory(world), 'Code', 'User');
    const profiles = join(user, 'profiles');
    const servers = (path: string, scope: ConfigFile['scope']): ConfigFile => ({
      agent: 'vscode',
      path,
      scope,
      format: 'json5',
      servers: [['servers']],
    });
    const hooks = join(project, '.github', 'hooks');
    return [
      servers(join(user, 'mcp.json'), 'user'),
      ...world.files.list(profiles).map((name) => servers(join(profiles, name, 'mcp.json'), 'user')),
      servers(join(project, '.vscode', 'mcp.json'), 'project'),
      ...world.files
        .list(hooks)
        .filter((name) => name.endsWith('.json'))
        .map((name): ConfigFile => ({ ...servers(join(hooks, name), 'project'), servers: [], hooks: 'flat' })),
    ];
  },
  leavesServer({ table }) {
    return scalarIn(table, 'sandboxEnabled') === true
      ? 'it runs in a sandbox, which keeps unwedge from its files'
      : undefined;
  },
  hooks: {
    defaultMs: () => seconds(30),
    shell: undefined,
    leaves: ({ commandKey }) => (commandKey === 'windows' ? 'it is for Windows' : undefined),
    blocks: () => false,
  },
  next: ['VS Code asks whether the changed servers are to be trusted; start them anew there.'],
};

/** Files that include files, at most; one that includes itself ends there too. */
const mostIncludes = 10;
const servers = ['mcp', 'servers'];

const openclaw: Agent = {
  name: 'openclaw',
  title: 'OpenClaw',
  triedOn: [],
  files(world) {
    const { env, home } = world;
    const state = env['OPENCLAW_STATE_DIR'] || join(home, '.openclaw');
    return included(world, env['OPENCLAW_CONFIG_PATH'] || join(state, 'openclaw.json'), servers, mostIncludes);
  },
  callLimitMs: ({ table }) => numberIn(table, 'requestTimeoutMs') ?? inMs(numberIn(table, 'timeout')),
  next: ['OpenClaw notices the change by itself and starts the servers anew.'],
};

/** A file and those that it takes servers from. @param path - where in it the servers are. */
function included(world: World, file: string, path: readonly string[], depth: number): readonly ConfigFile[] {
  const own: ConfigFile = { agent: 'openclaw', path: file, scope: 'user', format: 'json5', servers: [path] };
  const root = rootOf(world, file);
  if (root === undefined || depth === 0) return [own];
  const others = path.flatMap((_, index) => includesAt(root, path.slice(0, index), path.slice(index)));
  return [
    own,
    ...[...others, ...includesAt(root, path, [])].flatMap(({ name, rest }) =>
      included(world, resolve(dirname(file), name), rest, depth - 1),
    ),
  ];
}

/** Finds what an object includes, and where in that the servers are. */
function includesAt(root: ReturnType<typeof rootOf>, at: readonly string[], rest: readonly string[]) {
  const value = tableAt(root, at)?.fields.get('$include')?.value;
  const names = isText(value) ? [value] : (textsOf(value) ?? []);
  return names.map((each) => ({ name: each.value, rest }));
}

function rootOf({ files }: World, path: string) {
  try {
    const bytes = files.read(path);
    return bytes === undefined ? undefined : readDocument(bytes, 'json5').root;
  } catch (error) {
    // It is named when it is read to be changed.
    if (error instanceof DocumentError || (error instanceof Error && 'syscall' in error)) return undefined;
    throw error;
  }
}

export const agents: Readonly<Record<AgentName, Agent>> = {
  claude,
  'claude-desktop': claudeDesktop,
  codex,
  cursor,
  vscode,
  copilot,
  gemini,
  opencode,
  goose,
  openclaw,
  zed,
  jetbrains,
  acpx,
};
