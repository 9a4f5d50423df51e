import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFile } from '../configFile.ts';
import { wordsOf } from '../entry.ts';
import { numberIn, scalarIn } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, type HookRules, type Reason, type Rules, seconds } from './agent.ts';
import { claudeDirectory } from './claudeDirectory.ts';
import { type ClaudePolicies, readClaudePolicies } from './claudePolicies.ts';

const servers = [['mcpServers']];
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
        servers: [...servers, ['projects', '*', 'mcpServers']],
        lock: `${state}.lock`,
      },
      settings(join(own, 'settings.json'), 'user'),
      settings(join(project, '.claude', 'settings.local.json'), 'local'),
      settings(join(project, '.claude', 'settings.json'), 'project'),
      { agent: 'claude', path: join(project, '.mcp.json'), scope: 'project', format: 'json', servers },
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
