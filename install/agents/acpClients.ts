import { join } from 'node:path';
import type { ConfigFile } from '../configFile.ts';
import type { Program } from '../entry.ts';
import { numberIn, scalarIn } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, inMs, type Reason } from './agent.ts';

const next = ['Agents that run go on as they were started: open a new thread.'];

/** Zed and JetBrains fill in the home of the user in a command, and in no argument. */
const leavesTilde = ({ command }: Program): Reason =>
  command.value.startsWith('~')
    ? 'its command begins with `~`, which is filled in there alone: write the whole path'
    : undefined;

/** Zed: `agent_servers` and `context_servers` of its settings, comments and trailing commas allowed (crates/settings_content, Zed 1.x). */
export const zed: Agent = {
  name: 'zed',
  title: 'Zed',
  triedOn: [],
  files(world, project) {
    const settings = (path: string, scope: ConfigFile['scope']): ConfigFile => ({
      agent: 'zed',
      path,
      scope,
      format: 'json5',
      servers: [['context_servers']],
    });
    return [
      { ...settings(join(zedDirectory(world), 'settings.json'), 'user'), agents: { path: ['agent_servers'] } },
      settings(join(project, '.zed', 'settings.json'), 'project'),
    ];
  },
  leavesServer: (program) =>
    scalarIn(program.table, 'remote') === true ? 'it runs on the machine of a remote project' : leavesTilde(program),
  // In seconds; without one Zed waits 60, or as its `context_server_timeout` says.
  callLimitMs: ({ table }) => inMs(numberIn(table, 'timeout')),
  next: ['Zed starts the changed servers by itself.', ...next],
};

function zedDirectory({ platform, home, env }: World): string {
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'Zed');
  if (platform === 'darwin') return join(home, '.config', 'zed');
  return join(env['FLATPAK_XDG_CONFIG_HOME'] || env['XDG_CONFIG_HOME'] || join(home, '.config'), 'zed');
}

/** AI Assistant of the IDEs of JetBrains: `acp.json` (jetbrains.com/help/ai-assistant/acp.html, 2025.3 and later). */
export const jetbrains: Agent = {
  name: 'jetbrains',
  title: 'JetBrains AI Assistant',
  triedOn: [],
  files: ({ home }) => [
    {
      agent: 'jetbrains',
      path: join(home, '.jetbrains', 'acp.json'),
      scope: 'user',
      format: 'json5',
      servers: [],
      agents: { path: ['agent_servers'] },
    },
  ],
  leavesServer: leavesTilde,
  next,
};

/** acpx, read by `JSON.parse`: `argv` alone, `command` with `args`, or `command` as a line (src/cli/config.ts of 0.19.1). */
export const acpx: Agent = {
  name: 'acpx',
  title: 'acpx',
  triedOn: [],
  files: ({ home }, project) =>
    ([join(home, '.acpx', 'config.json'), join(project, '.acpxrc.json')] as const).map((path, index) => ({
      agent: 'acpx',
      path,
      scope: index === 0 ? 'user' : 'project',
      format: 'json',
      servers: [],
      agents: { path: ['agents'], areLines: true },
    })),
  rules: ({ launcher }) => ({
    server: ({ commandKey, isShell }) =>
      commandKey === 'command' && !isShell && /[\s'"]/.test(launcher.command)
        ? 'acpx takes no command with a space beside args: write both as one list, `argv`'
        : undefined,
    hooks: undefined,
  }),
  next: ['acpx keeps a session under the command of its agent: those of the other command are not found.'],
};
