import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loopbackAgent } from '../../../testing/loopbackAgents.ts';

/** Place of a cell's own: nothing of the user is read or written. */
export interface Place {
  readonly home: string;
  readonly cwd: string;
  /** Of the loopback model, without a slash at its end. */
  readonly url: string;
  /** Whether the agent asks before it runs a command. */
  readonly asks?: boolean;
}

/** An agent as data: where its program is, how it is started, and what it is told of its model. */
export interface FireAgent {
  readonly name: string;
  /** Package below `node_modules` whose version is told. */
  readonly package: string;
  /** Script for Node, or a program, below `node_modules`. The first that is there. */
  readonly programs: readonly string[];
  /** Further words that make it speak ACP; undefined: it does not. */
  readonly acp?: readonly string[];
  /** Further words of a run without an editor. */
  readonly headless?: readonly string[];
  /** Tool of it that runs a command; undefined: not known. */
  readonly tool?: { readonly name: string; readonly input: (command: string, asks: boolean) => object };
  /** Name under which `unwedge run --agent` knows it. @defaultValue found by itself */
  readonly profile?: string;
  env(place: Place): Readonly<Record<string, string>>;
}

/** Points an agent at the loopback model, as the drill does. @param more - for this one alone, once that home is made. */
const loopback =
  (more: (place: Place, made: Readonly<Record<string, string>>) => Record<string, string> = () => ({})) =>
  (place: Place): Record<string, string> => {
    const made = loopbackAgent(place.home, place.url);
    return { ...made, ...more(place, made) };
  };

const codex = loopback(({ home, asks = false }) => {
  const path = join(home, '.codex', 'config.toml');
  const asking = 'approval_policy = "on-request"\nsandbox_mode = "workspace-write"\n';
  if (asks) writeFileSync(path, asking + readFileSync(path, 'utf8'));
  return {};
});

const claude = loopback(({ home, asks = false }) => {
  mkdirSync(join(home, '.claude'));
  // Its auto mode would ask a model about each command.
  const permissions = { allow: asks ? [] : ['Bash'], defaultMode: 'default' };
  writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify({ permissions }));
  return { DISABLE_ERROR_REPORTING: '1' };
});

const opencode = loopback(({ asks = false }, { OPENCODE_CONFIG_CONTENT: content = '{}' }) => {
  const config = { ...(JSON.parse(content) as object), permission: { '*': asks ? 'ask' : 'allow' } };
  return {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' },
  };
});

const goose = loopback(({ asks = false }) => ({
  GOOSE_MODE: asks ? 'approve' : 'auto',
  GOOSE_TELEMETRY_ENABLED: 'false',
}));

const copilot = loopback(() => ({ COPILOT_AUTO_UPDATE: 'false' }));

const askingCodex = (cmd: string, asks: boolean): object => ({
  cmd,
  ...(asks && { sandbox_permissions: 'require_escalated', justification: 'may I?' }),
});
const byCommand = (command: string): object => ({ command, description: 'waits' });

/** Agents that are known, in the order of the page's columns. */
export const fireAgents: readonly FireAgent[] = [
  {
    name: 'goose',
    package: '@aaif/goose-binary-linux-x64',
    programs: ['@aaif/goose-binary-linux-x64/bin/goose'],
    acp: ['acp'],
    headless: ['run', '-q', '--no-session', '-t', 'do it', '--output-format', 'stream-json'],
    tool: { name: 'shell', input: byCommand },
    env: goose,
  },
  {
    name: 'claude',
    package: '@agentclientprotocol/claude-agent-acp',
    programs: ['@agentclientprotocol/claude-agent-acp/dist/index.js'],
    acp: [],
    tool: { name: 'Bash', input: byCommand },
    env: claude,
  },
  {
    name: 'codex',
    package: '@agentclientprotocol/codex-acp',
    programs: ['@agentclientprotocol/codex-acp/dist/index.js'],
    acp: [],
    tool: { name: 'exec_command', input: askingCodex },
    env: codex,
  },
  {
    name: 'opencode',
    package: 'opencode-linux-x64-baseline',
    programs: ['opencode-linux-x64-baseline/bin/opencode'],
    acp: ['acp'],
    headless: ['run', '--format', 'json', '--title', 't', '-m', 'fake/m', 'do it'],
    tool: { name: 'bash', input: byCommand },
    env: opencode,
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    programs: ['@google/gemini-cli/bundle/gemini.js'],
    acp: ['--acp', '-m', 'gemini-2.5-flash'],
    headless: ['-p', 'do it', '-y', '--skip-trust', '-m', 'gemini-2.5-flash', '-o', 'stream-json'],
    tool: { name: 'run_shell_command', input: byCommand },
    env: loopback(),
  },
  {
    name: 'copilot',
    package: '@github/copilot',
    programs: ['@github/copilot-linux-x64/copilot', '@github/copilot/npm-loader.js'],
    acp: ['--acp'],
    headless: ['-p', 'do it', '--allow-all-tools'],
    tool: { name: 'bash', input: byCommand },
    env: copilot,
  },
  {
    name: 'claude -p',
    package: '@anthropic-ai/claude-code',
    programs: [
      `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
      `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`,
    ],
    headless: ['-p', 'do it', '--output-format', 'stream-json', '--verbose'],
    profile: 'claude',
    env: claude,
  },
  {
    name: 'codex exec',
    package: '@openai/codex',
    programs: ['@openai/codex/bin/codex.js'],
    headless: ['exec', '--json', '--skip-git-repo-check', 'do it'],
    profile: 'codex',
    env: codex,
  },
];

/** An agent that is installed. */
export interface InstalledAgent extends FireAgent {
  readonly version: string;
  /** Program and its first words. */
  readonly words: readonly string[];
}

/** Finds those that are installed in a `node_modules`, and names those that are not. */
export function findAgents(modules: string): {
  readonly found: readonly InstalledAgent[];
  readonly missing: readonly string[];
} {
  const node = nodeOf(modules);
  const missing: string[] = [];
  const found = fireAgents.flatMap((agent): readonly InstalledAgent[] => {
    const program = agent.programs.map((path) => join(modules, path)).find((path) => existsSync(path));
    if (program === undefined) {
      missing.push(agent.name);
      return [];
    }
    const words = program.endsWith('.js') ? [node, program] : [program];
    return [{ ...agent, words, version: versionOf(modules, agent) }];
  });
  return { found, missing };
}

function versionOf(modules: string, { package: name, programs }: FireAgent): string {
  const own = join(modules, name, 'package.json');
  const path = existsSync(own)
    ? own
    : join(modules, (programs.at(-1) ?? '').split('/').slice(0, 2).join('/'), 'package.json');
  if (!existsSync(path)) return '?';
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: string };
  return version ?? '?';
}

/** Node that the agents need: 22 or later, from the package `node` beside them where this one is older. */
export function nodeOf(modules: string): string {
  const major = Number(process.versions.node.split('.')[0]);
  const own = join(modules, '.bin', 'node');
  return major >= 22 || !existsSync(own) ? process.execPath : own;
}
