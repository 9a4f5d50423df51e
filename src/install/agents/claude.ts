import { join } from 'node:path';
import type { ConfigFile } from '../configFile.ts';
import { numberIn, scalarIn } from '../tree.ts';
import { type Agent, type HookRules, seconds } from './agent.ts';
import { claudeDirectory } from './claudeDirectory.ts';
import { claudeRules } from './claudeRules.ts';

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
