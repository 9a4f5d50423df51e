import {
  checkDuration,
  checkFunction,
  checkKeys,
  checkName,
  checkNumber,
  checkObject,
  checkTexts,
  checkVariables,
} from '../policy/options.ts';
import type { SdkCanUseTool, SdkMessage, SdkOptions, SdkQueryFunction } from './agentSdkTypes.ts';

/** What is Claude's alone. */
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
   * How long retries that Claude announces (`api_retry`) count as signs of life when nothing else comes, in ms above 0; from then on
   * the idle limit runs. @defaultValue 300000
   */
  readonly retryLifeMs?: number | undefined;
  /** How long Claude may take to obey an interrupt before its process is ended, in ms above 0. @defaultValue 2000 */
  readonly interruptMs?: number | undefined;
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: number | undefined;
}

/** {@link ClaudeBackendOptions} with the defaults filled in. */
export interface ClaudeSettings extends ClaudeBackendOptions {
  readonly options: SdkOptions;
  readonly retryLifeMs: number;
  readonly interruptMs: number;
  readonly graceMs: number;
}

/** Options of `query()` that are set by who supervises it, and where they are said instead. */
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
  const keys = [
    'query',
    'command',
    'args',
    'env',
    'options',
    'canUseTool',
    'onMessage',
    'retryLifeMs',
    'interruptMs',
    'graceMs',
  ];
  checkKeys(name, given, keys);
  for (const key of ['query', 'canUseTool', 'onMessage'] as const) {
    if (given[key] !== undefined) checkFunction(`${name}.${key}`, given[key]);
  }
  const { options = {}, retryLifeMs = 300_000, interruptMs = 2000, graceMs = 5000 } = given;
  checkObject(`${name}.options`, options);
  if (given.command !== undefined) checkName(`${name}.command`, given.command);
  if (given.args !== undefined) checkTexts(`${name}.args`, given.args);
  if (given.env !== undefined) checkVariables(`${name}.env`, given.env);
  const unfit = given.command === undefined ? (['args', 'env'] as const) : (['query', 'options'] as const);
  for (const key of unfit) {
    const why = given.command === undefined ? 'without' : 'with';
    if (given[key] !== undefined) throw new RangeError(`Expected \`${name}.${key}\` to be left out ${why} \`command\``);
  }
  for (const key of Object.keys(options)) {
    const instead = Object.hasOwn(owned, key) ? owned[key] : undefined;
    if (instead !== undefined)
      throw new RangeError(`Expected \`${name}.options.${key}\` to be left out; use ${instead}`);
  }
  return {
    ...given,
    options,
    retryLifeMs: checkDuration(`${name}.retryLifeMs`, retryLifeMs),
    interruptMs: checkDuration(`${name}.interruptMs`, interruptMs),
    graceMs: checkNumber(`${name}.graceMs`, graceMs),
  };
}
