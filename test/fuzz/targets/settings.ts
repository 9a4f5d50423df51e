import { agents } from '../../../install/agents/agents.ts';
import type { AgentName, ConfigFile } from '../../../install/configFile.ts';
import { unifiedDiff } from '../../../install/diff.ts';
import { readDocument } from '../../../install/document.ts';
import { type FilePlan, hashOf, planUnwrap, planWrap } from '../../../install/planFile.ts';
import { DocumentError } from '../../../install/tree.ts';
import type { World } from '../../../install/world.ts';
import { expecting, must, type Target } from '../target.ts';

const servers = {
  a: { command: 'npx', args: ['-y', 'server', '--flag'], env: { KEY: 'x' } },
  'b c': { command: '/bin/srv' },
  r: { url: 'http://127.0.0.1/mcp' },
  t: { type: 'stdio', command: 'node', args: ['x.mjs'], timeout: 60000 },
};
const hooks = {
  PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: 'guard.sh --x', timeout: 10 }] }],
  Stop: [{ hooks: [{ type: 'command', command: 'echo "a b" && ls' }] }],
};
const jsons = [
  { mcpServers: servers },
  { theme: 'x', servers },
  { hooks },
  { mcp: { servers, local: { type: 'local', command: ['npx', '-y', 'x'] } } },
  {
    context_servers: { z: { source: 'custom', command: { path: 'srv', args: [] } } },
    agent_servers: { g: { command: 'goose', args: ['acp'], env: {} } },
  },
  { agents: { g: { command: 'gemini --acp' } } },
  { projects: { '/home/u/p': { mcpServers: servers } } },
];
const toml =
  '# top\nmodel = "x"\ntool_timeout_sec = 10\n\n[mcp_servers.a] # note\ncommand = "npx"\nargs = ["-y", "server"]\nstartup_timeout_sec = 5\n\n[mcp_servers.a.env]\nKEY = "x"\n\n[mcp_servers."b c"]\ncommand = \'/bin/srv\'\nargs = [\n  "one", # first\n]\n\n[hooks]\n';
const yaml =
  'extensions:\n  a:\n    type: stdio\n    cmd: npx\n    args:\n      - -y\n      - server\n    enabled: true\n  b: {type: stdio, cmd: srv, args: ["x"]} # note\n';

/** A world in which nothing is but what is asked for. */
const world = {
  ...{ home: '/home/u', cwd: '/home/u/p', platform: 'linux', env: {}, now: () => 0 },
  files: {
    read: () => undefined,
    list: () => [],
    realPath: (path: string) => path,
    kind: () => undefined,
    stat: () => undefined,
    exists: () => false,
    isDirectory: () => false,
  } as unknown as World['files'],
} as unknown as World;

/** Settings of one client: install and undo give the file back byte for byte, or it is refused by what is wrong with it. */
export function settings(name: AgentName): () => Target {
  return () => {
    const agent = agents[name];
    const kinds = new Map(
      agent
        .files(world, '/home/u/p')
        .map((file) => [
          JSON.stringify([file.format, file.servers, file.command, file.hooks, file.agents, file.setting]),
          file,
        ]),
    );
    const files = [...kinds.values()];
    must(files.length > 0, `${name} has no file`);
    const formats = new Set(files.map(({ format }) => format));
    const seeds: string[] = [];
    if (formats.has('toml')) seeds.push(toml, toml.replaceAll('\n', '\r\n'));
    if (formats.has('yaml')) seeds.push(yaml, yaml.replaceAll('\n', '\r\n'));
    if ([...formats].some((format) => format.startsWith('json')))
      seeds.push(
        ...jsons.flatMap((json) => [
          JSON.stringify(json, null, 1),
          `\uFEFF${JSON.stringify(json)}`,
          `// a\n${JSON.stringify(json, null, '\t').replaceAll('\n', '\r\n')}`,
        ]),
      );
    const launcher = { command: '/usr/bin/unwedge', args: [] };
    const scripts = new Set(['/usr/bin/unwedge']);
    return {
      seeds,
      words: [
        'unwedge',
        'mcp',
        '--',
        '/usr/bin/unwedge',
        'hook',
        'command',
        'args',
        '"""',
        "'''",
        '# x',
        '&a',
        '*a',
        '|',
        '<<:',
        '- ',
      ],
      maxBytes: 2500,
      run(input, random) {
        const file = files[Math.floor(random() * files.length)] as ConfigFile;
        const withGuard = file.hooks !== undefined && random() < 0.2 ? true : undefined;
        const wrapping = {
          agent,
          rules: undefined,
          launcher,
          withRequestedHooks: random() < 0.5,
          withGuard,
          isThere: () => true,
          isWindows: false,
          scripts,
          elsewhere: new Map<string, string>(),
        };
        const plan = expecting(() => planWrap(input, file, wrapping, undefined), DocumentError);
        // What is there already without a record may be ours, too.
        expecting(() => planUnwrap(input, file, undefined, scripts), DocumentError);
        if (plan?.after === undefined) return;
        mustComeBack(input, plan, file, scripts);
        const again = planWrap(plan.after, file, wrapping, recordOf(plan, file));
        must(again.after === undefined, 'a file that is installed is changed again');
      },
    };
  };
}

function recordOf(plan: FilePlan, file: ConfigFile) {
  return {
    file,
    after: hashOf(plan.after ?? Buffer.alloc(0)),
    original: hashOf(plan.original),
    entries: plan.records,
    setting: plan.setting,
  } as never;
}

function mustComeBack(input: Buffer, plan: FilePlan, file: ConfigFile, scripts: ReadonlySet<string>): void {
  const after = plan.after as Buffer;
  const back = planUnwrap(after, file, recordOf(plan, file), scripts);
  must(back.after?.equals(plan.original) === true && back.isExact === true, 'an undo does not give the file back');
  // Only what was ours before could be missing from it.
  if (!input.includes('unwedge')) must(plan.original.equals(input), 'the file of before is not what was there');
  unifiedDiff(file.path, plan.document, readDocument(after, file.format), plan.edits);
}
