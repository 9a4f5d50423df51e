import { programForm } from '../../policy/commandText.ts';
import type { Duration } from '../../policy/duration.ts';
import {
  anyObject,
  callback,
  duration,
  type Key,
  type KeysOf,
  list,
  type Tell,
  text,
  type Values,
  variables,
} from '../../policy/optionKeys.ts';
import { readOptions } from '../../policy/readOptions.ts';
import type { SdkCanUseTool, SdkMessage, SdkOptions, SdkQueryFunction } from './agentSdkTypes.ts';

/** Options that are Claude's alone. */
export interface ClaudeBackendOptions {
  /** `query` of the Claude Agent SDK. @defaultValue that of `@anthropic-ai/claude-agent-sdk`, which has to be installed */
  readonly query?: SdkQueryFunction | undefined;
  /**
   * Runs the command line itself instead of the SDK: path, or name to look up on the PATH. Not with `query` or `options`; what the
   * SDK has options for is said by `args`. @defaultValue the SDK
   */
  readonly command?: string | undefined;
  /** Come before those that are needed; only with `command`. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** Variables set for the command, over `env` of the agent; one that is undefined is taken out. Only with `command`. @defaultValue {} */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /**
   * Options for `query()` (`allowedTools`, `permissionMode`, `systemPrompt`, `mcpServers`, `hooks` …), but for those that are
   * supervised: `abortController`, `spawnClaudeCodeProcess`, `resume`, `env`, `cwd`, `model`, `canUseTool`. @defaultValue {}
   */
  readonly options?: SdkOptions | undefined;
  /** The SDK's own callback instead of `approve`; it declines when it does not answer in time, or fails. */
  readonly canUseTool?: SdkCanUseTool | undefined;
  /** Hears every message of the SDK, as it came. What it throws is told and ignored. */
  readonly onMessage?: ((message: SdkMessage) => void) | undefined;
  /**
   * Time in ms above 0 that retries that Claude announces (`api_retry`) count as signs of life when nothing else comes; from then on the idle limit runs.
   * @defaultValue 300000
   */
  readonly retryLifeMs?: Duration | undefined;
  /** Time in ms above 0 that Claude may take to obey an interrupt before its process is ended. @defaultValue 2000 */
  readonly interruptMs?: Duration | undefined;
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: Duration | undefined;
}

/** The options of an agent that are of Claude alone. */
export const claudeKeys = {
  query: callback<SdkQueryFunction>(),
  command: text(programForm),
  args: list(text({ empty: true }), { expected: 'an array of strings' }),
  env: variables,
  options: { ...anyObject, required: undefined } as Key<SdkOptions | undefined>,
  canUseTool: callback<SdkCanUseTool>(),
  onMessage: callback<(message: SdkMessage) => void>(),
  retryLifeMs: duration({ default: 300_000 }),
  interruptMs: duration({ default: 2000 }),
  graceMs: duration({ zero: true, default: 5000 }),
} satisfies KeysOf<ClaudeBackendOptions>;

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
