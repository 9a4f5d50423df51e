import { programForm } from '../../../src/policy/text/face.ts';
import {
  type Given,
  type Key,
  type Tell,
  type Values,
  anyObject,
  callback,
  duration,
  list,
  readOptions,
  text,
  variables,
} from '../../../src/policy/options/face.ts';
import type { SdkCanUseTool, SdkMessage, SdkOptions, SdkQueryFunction } from './agentSdkTypes.ts';

/** The options of an agent that are of Claude alone. */
export const claudeKeys = {
  /** `query` of the Claude Agent SDK. @defaultValue that of `@anthropic-ai/claude-agent-sdk`, which has to be installed */
  query: callback<SdkQueryFunction>(),
  /**
   * Runs the command line itself instead of the SDK: path, or name to look up on the PATH. Not with `query` or `options`; what the
   * SDK has options for is said by `args`. @defaultValue the SDK
   */
  command: text(programForm),
  /** Come before those that are needed; only with `command`. @defaultValue [] */
  args: list(text({ empty: true }), { expected: 'an array of strings' }),
  /** Variables set for the command, over `env` of the agent; one that is undefined is taken out. Only with `command`. @defaultValue {} */
  env: variables,
  /**
   * Options for `query()` (`allowedTools`, `permissionMode`, `systemPrompt`, `mcpServers`, `hooks` …), but for those that are
   * supervised: `abortController`, `spawnClaudeCodeProcess`, `resume`, `env`, `cwd`, `model`, `canUseTool`. @defaultValue {}
   */
  options: { ...anyObject, required: undefined } as Key<SdkOptions | undefined>,
  /** The SDK's own callback instead of `approve`; it declines when it does not answer in time, or fails. */
  canUseTool: callback<SdkCanUseTool>(),
  /** Hears every message of the SDK, as it came. What it throws is told and ignored. */
  onMessage: callback<(message: SdkMessage) => void>(),
  /**
   * Time in ms above 0 that retries that Claude announces (`api_retry`) count as signs of life when nothing else comes; from then on the idle limit runs.
   * @defaultValue 300000
   */
  retryLifeMs: duration({ default: 300_000 }),
  /** Time in ms above 0 that Claude may take to obey an interrupt before its process is ended. @defaultValue 2000 */
  interruptMs: duration({ default: 2000 }),
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  graceMs: duration({ zero: true, default: 5000 }),
};

/** Options that are Claude's alone. */
export interface ClaudeBackendOptions extends Given<typeof claudeKeys> {}

/** {@link ClaudeBackendOptions} with the defaults filled in. */
export interface ClaudeSettings extends Values<typeof claudeKeys> {
  readonly options: SdkOptions;
}

/** Options of `query()` that the supervision sets, and where the user says them instead. */
const owned: Readonly<Record<string, string>> = {
  abortController: 'the `signal` of a turn',
  spawnClaudeCodeProcess: 'nothing: the process is supervised',
  resume: '`agent.resume(id)`',
  continue: '`agent.resume(id)`',
  env: '`env` of the agent',
  cwd: '`cwd` of the agent',
  model: '`model` of the agent',
  canUseTool: '`claude.canUseTool` or `approve`',
};

/** @throws TypeError or RangeError that names the option and its value. */
export function checkClaudeBackend(name: string, given: ClaudeBackendOptions = {}): ClaudeSettings {
  return { options: {}, ...readOptions(name, given, claudeKeys, claudeRule) };
}

/** Refuses what does not go with the way that Claude is run. */
export function claudeRule(given: Values<typeof claudeKeys>, tell: Tell): void {
  const without = given.command === undefined;
  for (const key of without ? (['args', 'env'] as const) : (['query', 'options'] as const)) {
    if (given[key] !== undefined) tell(key, { says: `to be left out ${without ? 'without' : 'with'} \`command\`` });
  }
  for (const key of Object.keys(given.options ?? {})) {
    const instead = Object.hasOwn(owned, key) ? owned[key] : undefined;
    if (instead !== undefined) tell(['options', key], { says: `to be left out; use ${instead}` });
  }
}
