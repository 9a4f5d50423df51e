import { dirname, join, resolve } from 'node:path';
import type { AgentName, ConfigFile } from '../configFile.ts';
import { readDocument } from '../document.ts';
import { DocumentError, isText, numberIn, scalarIn, tableAt, textsOf } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, inMs, seconds } from './agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';

const cursor: Agent = {
  name: 'cursor',
  title: 'Cursor',
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

/** Files that include files, at most; one that includes itself ends there too. */
const mostIncludes = 10;
const servers = ['mcp', 'servers'];

const openclaw: Agent = {
  name: 'openclaw',
  title: 'OpenClaw',
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

export const agents: Readonly<Record<AgentName, Agent>> = { claude, codex, cursor, vscode, openclaw };
