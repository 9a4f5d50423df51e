import type { Gateway } from './gatewayTypes.ts';
import type { BackoffPolicy } from './policy/backoff.ts';
import type { Clock, Random } from './policy/clock.ts';
import { read } from './policy/errorChain.ts';
import type { HostLogger } from './policy/hostLogger.ts';
import type { IntegrationPolicy } from './policy/policy.ts';
import { presets } from './policy/presets.ts';
import { checkBoolean, checkInteger, checkKeys, checkName, checkNumber, checkTexts, show } from './policy/options.ts';

/** How a call of Claude is tried again; times in seconds. */
export interface ClaudeRetry {
  /** Attempts in all, the first included, at least 1. @defaultValue `CLAUDE_MAX_RETRIES`, else that of the preset `claudeCli`, 5 */
  readonly maxRetries?: number | undefined;
  /** The first wait, above 0; each further one is twice as long. @defaultValue `CLAUDE_BASE_DELAY`, else that of the preset, 2 */
  readonly baseDelay?: number | undefined;
  /** The longest wait, jitter included, above 0. @defaultValue `CLAUDE_MAX_DELAY`, else that of the preset, 120 */
  readonly maxDelay?: number | undefined;
  /** Waits are spread by ± this factor, 0 to 1. @defaultValue `CLAUDE_JITTER_FACTOR`, else that of the preset, 0.2 */
  readonly jitterFactor?: number | undefined;
}

/** What may differ from call to call. */
export interface ClaudeCallOptions {
  /** @defaultValue what Claude is configured for */
  readonly model?: string | undefined;
  /** Takes the place of Claude's own. */
  readonly systemPrompt?: string | undefined;
  /** Longest answer, in tokens, at least 1. @defaultValue 4096 */
  readonly maxTokens?: number | undefined;
  /** Limit on each attempt, in seconds, above 0. @defaultValue that of the preset `claudeCli`, 300 */
  readonly timeout?: number | undefined;
  readonly retry?: ClaudeRetry | undefined;
  /** Where `claude_invocations.jsonl` is written. @defaultValue `CLAUDE_LOG_DIR`, else `.logs` in the working directory */
  readonly logDir?: string | undefined;
  /** Ends the call when aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How Claude is run, and the defaults of its calls. */
export interface ClaudeOptions extends Omit<ClaudeCallOptions, 'signal'> {
  /** Path, or name to look up on the PATH. @defaultValue 'claude' */
  readonly command?: string | undefined;
  /** Come before those of each call. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Adds to the environment of this process. @defaultValue {} */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether calls are logged. @defaultValue true */
  readonly log?: boolean | undefined;
  /** Under which calls are supervised; it is started and stopped by who made it. @defaultValue one of its own */
  readonly gateway?: Gateway | undefined;
  /** Of the integration in the gateway. @defaultValue 'claude' */
  readonly name?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly logger?: HostLogger | false | undefined;
}

/** What a call is made with, complete; times in ms. */
export interface ClaudeCall {
  readonly model: string | undefined;
  readonly systemPrompt: string | undefined;
  readonly maxTokens: number;
  readonly timeoutMs: number;
  readonly maxAttempts: number;
  readonly backoff: BackoffPolicy;
  readonly logDir: string;
  readonly signal: AbortSignal | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const callKeys = ['model', 'systemPrompt', 'maxTokens', 'timeout', 'retry', 'logDir', 'signal'];
const ownKeys = ['command', 'args', 'cwd', 'env', 'log', 'gateway', 'name', 'clock', 'random', 'logger'];

/**
 * The defaults of calls: what the options say, else the environment, else the policy of the integration.
 * @throws TypeError or RangeError that names the option or the variable, and its value.
 */
export function checkClaudeOptions(
  options: ClaudeOptions,
  environment: Environment,
  { retry: usual, limits }: Pick<IntegrationPolicy, 'retry' | 'limits'> = presets.claudeCli,
): ClaudeCall {
  checkKeys('options', options, [...ownKeys, ...callKeys.filter((key) => key !== 'signal')]);
  if (options.command !== undefined) checkName('options.command', options.command);
  if (options.args !== undefined) checkTexts('options.args', options.args);
  if (options.log !== undefined) checkBoolean('options.log', options.log);
  if (options.gateway !== undefined && typeof read(options.gateway, 'subprocess') !== 'function') {
    throw new TypeError('Expected `options.gateway` to be a gateway');
  }
  const jitter = variable(environment, 'CLAUDE_JITTER_FACTOR');
  const call: ClaudeCall = {
    model: undefined,
    systemPrompt: undefined,
    maxTokens: 4096,
    timeoutMs: limits.attemptMs,
    maxAttempts: checkInteger('CLAUDE_MAX_RETRIES', variable(environment, 'CLAUDE_MAX_RETRIES') ?? usual.maxAttempts),
    backoff: {
      backoff: growth(usual.backoff.backoff, {
        baseMs: secondsIn(environment, 'CLAUDE_BASE_DELAY'),
        capMs: secondsIn(environment, 'CLAUDE_MAX_DELAY'),
      }),
      jitter: jitter === undefined ? usual.backoff.jitter : jitterFrom('CLAUDE_JITTER_FACTOR', jitter),
    },
    logDir: given(environment, 'CLAUDE_LOG_DIR') ?? '.logs',
    signal: undefined,
  };
  const { model, systemPrompt, maxTokens, timeout, retry, logDir } = options;
  return checkClaudeCall({ model, systemPrompt, maxTokens, timeout, retry, logDir }, call);
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkClaudeCall(options: ClaudeCallOptions, base: ClaudeCall): ClaudeCall {
  checkKeys('options', options, callKeys);
  const { model, systemPrompt, maxTokens, timeout, retry = {}, logDir, signal } = options;
  checkKeys('options.retry', retry, ['maxRetries', 'baseDelay', 'maxDelay', 'jitterFactor']);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('Expected `options.signal` to be an AbortSignal');
  }
  const { maxRetries, baseDelay, maxDelay, jitterFactor } = retry;
  return {
    model: model === undefined ? base.model : checkName('options.model', model),
    systemPrompt: systemPrompt === undefined ? base.systemPrompt : checkName('options.systemPrompt', systemPrompt),
    maxTokens: maxTokens === undefined ? base.maxTokens : checkInteger('options.maxTokens', maxTokens),
    timeoutMs: timeout === undefined ? base.timeoutMs : secondsFrom('options.timeout', timeout),
    maxAttempts: maxRetries === undefined ? base.maxAttempts : checkInteger('options.retry.maxRetries', maxRetries),
    backoff: {
      backoff: growth(base.backoff.backoff, {
        baseMs: baseDelay === undefined ? undefined : secondsFrom('options.retry.baseDelay', baseDelay),
        capMs: maxDelay === undefined ? undefined : secondsFrom('options.retry.maxDelay', maxDelay),
      }),
      jitter: jitterFactor === undefined ? base.backoff.jitter : jitterFrom('options.retry.jitterFactor', jitterFactor),
    },
    logDir: logDir === undefined ? base.logDir : checkName('options.logDir', logDir),
    signal: signal ?? base.signal,
  };
}

type Growth = BackoffPolicy['backoff'];
type Exponential = Extract<Growth, { kind: 'exponential' }>;

/** Waits that grow as before, but for what is said of them here; said so, they double from a first one. */
function growth(usual: Growth, { baseMs, capMs }: { [K in 'baseMs' | 'capMs']: number | undefined }): Growth {
  if (baseMs === undefined && capMs === undefined) return usual;
  const from = usual.kind === 'exponential' ? usual : (presets.claudeCli.retry.backoff.backoff as Exponential);
  return { ...from, baseMs: baseMs ?? from.baseMs, capMs: capMs ?? from.capMs };
}

/** One that is set to nothing counts as not set. */
function given(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

function variable(environment: Environment, name: string): number | undefined {
  const text = given(environment, name);
  if (text === undefined) return undefined;
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new RangeError(`Expected \`${name}\` to be a number, got ${show(text)}`);
  return Number(text);
}

function secondsIn(environment: Environment, name: string): number | undefined {
  const value = variable(environment, name);
  return value === undefined ? undefined : secondsFrom(name, value);
}

function secondsFrom(name: string, value: unknown): number {
  const seconds = checkNumber(name, value);
  if (seconds === 0) throw new RangeError(`Expected \`${name}\` to be a number of seconds above 0, got 0`);
  return seconds * 1000;
}

function jitterFrom(name: string, value: unknown): BackoffPolicy['jitter'] {
  return { kind: 'factor', factor: checkNumber(name, value, 0, 1) };
}
