import type { AgentProfile, MessageRule } from './profile.ts';

const gooseMessages: readonly MessageRule[] = [
  // What the model wrote names it; goose's own words on a failure are messages of the assistant, too.
  {
    when: { type: 'message', 'message.role': 'assistant', 'message.metadata.inference': true },
    each: 'message.content',
    item: { type: 'text' },
    means: 'text',
    text: ['text'],
    id: 'message.id',
  },
  // Behind the text, which may stand in the same message.
  {
    when: { type: 'message', 'message.metadata.outputTokenLimitReached': true },
    means: 'failure',
    says: 'The answer was cut off at its limit of tokens',
    kind: 'permanent',
  },
  {
    when: { type: 'message', 'message.role': 'assistant', 'message.metadata.inference': false },
    each: 'message.content',
    item: { type: ['text', 'error'] },
    means: 'failure',
    text: ['text', 'message'],
  },
  {
    when: { type: 'message', 'message.role': 'assistant' },
    each: 'message.content',
    item: { type: 'toolRequest' },
    means: 'tool',
    id: 'id',
    name: 'toolCall.value.name',
    input: 'toolCall.value.arguments',
  },
  {
    when: { type: 'message', 'message.role': 'user' },
    each: 'message.content',
    item: { type: 'toolResponse' },
    means: 'result',
    id: 'id',
    text: ['toolResult.error', 'toolResult.value.content'],
    fails: [{ 'toolResult.status': 'error' }, { 'toolResult.value.isError': true }],
  },
];

/** The programs that are known, by name. Each line was seen in the release named above it. */
export const agentProfiles = {
  // Claude Code 2.1.332
  claude: {
    title: 'Claude',
    commands: ['claude'],
    packages: ['@anthropic-ai/claude-code'],
    provider: 'anthropic',
    headless: { words: ['-p', '--print'] },
    formats: {
      options: ['--output-format'],
      values: { json: 'json', 'stream-json': 'stream-json' },
      best: '--output-format stream-json --verbose',
    },
    silentFormats: ['text', 'json'],
    output: 'claude',
    exits: 'signal',
    resume: { words: ['claude', '--resume'] },
    // After SIGINT its model reads that the user declined, also where the command ran.
    stop: { signal: 'SIGTERM', leavesChildren: false },
    acp: { package: '@agentclientprotocol/claude-agent-acp' },
  },
  // Codex 0.171.0
  codex: {
    title: 'Codex',
    commands: ['codex'],
    packages: ['@openai/codex'],
    provider: 'openai',
    headless: { words: ['exec', 'e'] },
    formats: { words: { '--json': 'stream-json', '--experimental-json': 'stream-json' }, best: '--json' },
    output: 'codex',
    exits: 'signal',
    resume: { words: ['codex', 'exec', 'resume'] },
    stop: { signal: 'SIGTERM', leavesChildren: false },
    acp: { package: '@agentclientprotocol/codex-acp' },
  },
  // goose 1.52.0
  goose: {
    title: 'goose',
    commands: ['goose'],
    headless: { words: ['run'], not: ['-s', '--interactive'] },
    formats: {
      options: ['--output-format'],
      values: { json: 'json', 'stream-json': 'stream-json' },
      best: '--output-format stream-json -q',
    },
    output: {
      stream: {
        rules: [
          ...gooseMessages,
          { when: { type: 'error' }, means: 'failed', text: ['error'] },
          { when: { type: 'complete' }, means: 'ended' },
        ],
      },
      json: {
        spread: { from: 'messages', as: 'message' },
        rules: [...gooseMessages, { when: { 'metadata.status': 'completed' }, means: 'ended' }],
      },
    },
    errorTexts: [
      { begins: 'Ran into this error: ', ends: 'if you think this is a transient or recoverable error.' },
      { begins: 'Network error: ', ends: 'Please resend your message to try again.' },
      { begins: 'The model returned an empty response.', ends: 'Please resend your message to continue.' },
    ],
    errorLines: [{ begins: 'Error: ' }],
    kinds: [{ pattern: 'Headless run interrupted', kind: 'cancelled' }],
    retries: { kinds: ['transient', 'overloaded', 'rate_limit'], except: ['Stream decode error'] },
    stop: { signal: 'SIGINT', leavesChildren: true },
    acp: { args: ['acp'] },
  },
  // gemini-cli 0.61.0
  gemini: {
    title: 'Gemini',
    commands: ['gemini'],
    packages: ['@google/gemini-cli'],
    provider: 'gcp.gemini',
    headless: { words: ['-p', '--prompt'], not: ['-i', '--prompt-interactive'] },
    formats: {
      options: ['--output-format', '-o'],
      values: { json: 'json', 'stream-json': 'stream-json' },
      best: '--output-format stream-json',
    },
    output: {
      stream: {
        session: 'session_id',
        rules: [
          { when: { type: 'message', role: 'assistant' }, means: 'text', text: ['content'] },
          { when: { type: 'tool_use' }, means: 'tool', id: 'tool_id', name: 'tool_name', input: 'parameters' },
          // A command that fails is a success to it.
          {
            when: { type: 'tool_result' },
            means: 'result',
            id: 'tool_id',
            text: ['output'],
            fails: [{ status: 'error' }],
          },
          { when: { type: 'error', severity: 'error' }, means: 'failure', text: ['message'] },
          { when: { type: 'result', status: 'success' }, means: 'done' },
          { when: { type: 'result' }, means: 'failed', text: ['error.message'] },
        ],
      },
      json: {
        session: 'session_id',
        rules: [
          { when: { response: true }, means: 'text', text: ['response'] },
          { when: { stats: true }, means: 'tool', count: 'stats.tools.totalCalls' },
          { when: { error: true }, means: 'failed', text: ['error.message'], status: 'error.code' },
          { when: { stats: true }, means: 'ended' },
        ],
      },
    },
    errorLines: [{ begins: '[ERROR] ', atExit0: true }, { begins: 'Error when talking to Gemini API' }],
    kinds: [
      { pattern: '[API Error: terminated]', kind: 'transient' },
      { pattern: 'TypeError: terminated', kind: 'transient' },
    ],
    exits: 'status',
    retries: { kinds: ['transient', 'overloaded', 'rate_limit'], except: ['terminated'] },
    readOnlyTools: [
      'glob',
      'google_web_search',
      'grep_search',
      'list_directory',
      'read_file',
      'read_many_files',
      'web_fetch',
    ],
    stop: { leavesChildren: true },
    acp: { args: ['--acp'] },
  },
  // opencode-ai 1.18.33
  opencode: {
    title: 'opencode',
    commands: ['opencode'],
    packages: ['opencode-ai'],
    headless: { words: ['run'], not: ['-i', '--interactive'] },
    formats: { options: ['--format'], values: { json: 'stream-json' }, best: '--format json' },
    silentFormats: ['text'],
    output: {
      stream: {
        session: 'sessionID',
        toldLate: true,
        rules: [
          { when: { type: 'step_start' }, means: 'traffic' },
          { when: { type: 'text' }, means: 'text', text: ['part.text'], id: 'part.messageID' },
          {
            when: { type: 'tool_use' },
            means: 'tool',
            id: 'part.callID',
            name: 'part.tool',
            input: 'part.state.input',
            text: ['part.state.error', 'part.state.output'],
            fails: [{ 'part.state.status': 'error' }],
            exit: 'part.state.metadata.exit',
          },
          {
            when: { type: 'error' },
            means: 'failed',
            text: ['error.data.message', 'error.name'],
            status: 'error.data.statusCode',
          },
          { when: { type: 'step_finish', 'part.reason': 'stop' }, means: 'done' },
          {
            when: { type: 'step_finish', 'part.reason': 'length' },
            means: 'failed',
            says: 'The answer was cut off at its limit of tokens',
            kind: 'permanent',
          },
          // It asks again, without end.
          {
            when: { type: 'step_finish', 'part.reason': 'unknown' },
            means: 'failure',
            says: 'The answer of the model ended early',
            kind: 'transient',
          },
        ],
      },
    },
    errorLines: [{ begins: 'Error: ' }],
    retries: { kinds: ['transient', 'overloaded', 'rate_limit'] },
    readOnlyTools: ['glob', 'grep', 'list', 'read', 'todoread', 'todowrite', 'webfetch', 'websearch'],
    resume: { words: ['opencode', 'run', '--session'] },
    stop: { leavesChildren: true },
    acp: { args: ['acp'] },
  },
  // GitHub Copilot CLI 1.0.102
  copilot: {
    title: 'Copilot',
    commands: ['copilot'],
    packages: ['@github/copilot'],
    headless: { words: ['-p', '--prompt'], not: ['-i', '--interactive'] },
    formats: { options: ['--output-format'], values: { json: 'stream-json' }, best: '--output-format json' },
    silentFormats: [],
    output: {
      stream: {
        session: 'sessionId',
        rules: [
          { when: { type: 'assistant.message' }, means: 'text', text: ['data.content'], id: 'data.messageId' },
          {
            when: { type: 'tool.execution_start' },
            means: 'tool',
            id: 'data.toolCallId',
            name: 'data.toolName',
            input: 'data.arguments',
          },
          {
            when: { type: 'tool.execution_complete' },
            means: 'result',
            id: 'data.toolCallId',
            text: ['data.error.message', 'data.result.content'],
            fails: [{ 'data.success': false }],
            exit: 'data.shellExecution.exitCode',
          },
          { when: { type: 'session.error' }, means: 'failure', text: ['data.message'], status: 'data.statusCode' },
          { when: { type: 'result', exitCode: 0 }, means: 'ended' },
          { when: { type: 'result' }, means: 'failed' },
          { when: { type: ['assistant.turn_retry', 'model.call_failure', 'model.call_start'] }, means: 'traffic' },
          { when: { type: ['session.background_tasks_changed', 'session.info'] }, means: 'traffic' },
        ],
      },
    },
    retries: { kinds: ['transient', 'overloaded', 'rate_limit'] },
    readOnlyTools: ['fetch', 'glob', 'grep', 'rg', 'view', 'web_fetch', 'web_search'],
    resume: { words: ['copilot', '--resume'] },
    stop: { leavesChildren: true },
    acp: { args: ['--acp'] },
  },
} as const satisfies Readonly<Record<string, AgentProfile>>;

/** The agents that are known. */
export type KnownAgent = keyof typeof agentProfiles;

/** Name of an agent whose output is understood: one that is known, or of a profile of one's own. */
export type AgentName = KnownAgent | (string & Record<never, never>);

/** The names of all agents that are known. */
export const agentNames = Object.keys(agentProfiles) as readonly KnownAgent[];

/** Profiles of the user's own, by name. */
export type OwnProfiles = Readonly<Record<string, AgentProfile>>;

/** Returns the facts of the agent of a command. */
export const profileOf = ({ agent, profile }: Profiled): AgentProfile =>
  profile ?? (agentProfiles as OwnProfiles)[agent] ?? unknownProfile;

/** Agent, with its profile where that is the user's own. */
export interface Profiled {
  readonly agent: AgentName;
  readonly profile?: AgentProfile | undefined;
}

const unknownProfile: AgentProfile = {
  title: 'the agent',
  commands: [],
  headless: { words: [] },
  output: {},
  stop: { leavesChildren: true },
};
