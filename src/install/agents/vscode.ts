import { join } from 'node:path';
import type { ConfigFile } from '../configFile.ts';
import { scalarIn } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, seconds } from './agent.ts';

export const vscode: Agent = {
  name: 'vscode',
  title: 'VS Code',
  files(world, project) {
    const user = userDirectory(world);
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

function userDirectory({ platform, home, env }: World): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Code', 'User');
  if (platform === 'win32') return join(env['APPDATA'] || join(home, 'AppData', 'Roaming'), 'Code', 'User');
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'Code', 'User');
}
