import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

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

const json = (path: string, value: object): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
};

function codexHome({ home, url, asks }: Place): Record<string, string> {
  writeFileSync(
    join(home, 'config.toml'),
    `model = "fake-model"
model_provider = "fake"
${asks ? 'approval_policy = "on-request"\nsandbox_mode = "workspace-write"\n' : ''}[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
`,
  );
  return { CODEX_HOME: home, FAKE_KEY: 'x' };
}

function claudeHome({ home, url, asks }: Place): Record<string, string> {
  // Its auto mode would ask a model about each command.
  json(join(home, '.claude', 'settings.json'), {
    permissions: { allow: asks ? [] : ['Bash'], defaultMode: 'default' },
  });
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-fake-000',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
  };
}

function geminiHome({ home, url }: Place): Record<string, string> {
  json(join(home, '.gemini', 'settings.json'), {
    security: { auth: { selectedType: 'gemini-api-key' } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    general: { enableAutoUpdate: false },
  });
  return { GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: 'true' };
}

function opencodeHome({ home, cwd, url, asks }: Place): Record<string, string> {
  const model = { name: 'm', tool_call: true, limit: { context: 100_000, output: 1000 } };
  const options = { baseURL: `${url}/v1`, apiKey: 'x' };
  json(join(cwd, 'opencode.json'), {
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    lsp: false,
    model: 'fake/m',
    small_model: 'fake/m',
    provider: { fake: { npm: '@ai-sdk/openai-compatible', name: 'fake', options, models: { m: model } } },
    permission: { '*': asks ? 'ask' : 'allow' },
  });
  return {
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    npm_config_registry: 'http://127.0.0.1:9',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
}

const gooseHome = ({ url, asks }: Place): Record<string, string> => ({
  GOOSE_PROVIDER: 'openai',
  GOOSE_MODEL: 'gpt-4o',
  OPENAI_HOST: url,
  OPENAI_API_KEY: 'x',
  GOOSE_DISABLE_KEYRING: '1',
  GOOSE_MODE: asks ? 'approve' : 'auto',
  GOOSE_TELEMETRY_ENABLED: 'false',
});

const copilotHome = ({ url }: Place): Record<string, string> => ({
  COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
  COPILOT_PROVIDER_API_KEY: 'x',
  COPILOT_MODEL: 'gpt-4.1',
  COPILOT_OFFLINE: 'true',
  COPILOT_AUTO_UPDATE: 'false',
});

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
    env: gooseHome,
  },
  {
    name: 'claude',
    package: '@agentclientprotocol/claude-agent-acp',
    programs: ['@agentclientprotocol/claude-agent-acp/dist/index.js'],
    acp: [],
    tool: { name: 'Bash', input: byCommand },
    env: claudeHome,
  },
  {
    name: 'codex',
    package: '@agentclientprotocol/codex-acp',
    programs: ['@agentclientprotocol/codex-acp/dist/index.js'],
    acp: [],
    tool: { name: 'exec_command', input: askingCodex },
    env: codexHome,
  },
  {
    name: 'opencode',
    package: 'opencode-linux-x64-baseline',
    programs: ['opencode-linux-x64-baseline/bin/opencode'],
    acp: ['acp'],
    headless: ['run', '--format', 'json', '--title', 't', '-m', 'fake/m', 'do it'],
    tool: { name: 'bash', input: byCommand },
    env: opencodeHome,
  },
  {
    name: 'gemini',
    package: '@google/gemini-cli',
    programs: ['@google/gemini-cli/bundle/gemini.js'],
    acp: ['--acp', '-m', 'gemini-2.5-flash'],
    headless: ['-p', 'do it', '-y', '--skip-trust', '-m', 'gemini-2.5-flash', '-o', 'stream-json'],
    tool: { name: 'run_shell_command', input: byCommand },
    env: geminiHome,
  },
  {
    name: 'copilot',
    package: '@github/copilot',
    programs: ['@github/copilot-linux-x64/copilot', '@github/copilot/npm-loader.js'],
    acp: ['--acp'],
    headless: ['-p', 'do it', '--allow-all-tools'],
    tool: { name: 'bash', input: byCommand },
    env: copilotHome,
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
    env: claudeHome,
  },
  {
    name: 'codex exec',
    package: '@openai/codex',
    programs: ['@openai/codex/bin/codex.js'],
    headless: ['exec', '--json', '--skip-git-repo-check', 'do it'],
    profile: 'codex',
    env: codexHome,
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
