import {
  type Given,
  type HostLogger,
  type Key,
  anything,
  boolean,
  having,
  integer,
  list,
  number,
  readGiven,
  readOptions,
  readValue,
  section,
  signal,
  text,
} from '../../src/policy/options/face.ts';
import { programForm, show } from '../../src/policy/text/face.ts';
import type { Gateway } from '../../src/gateway/face.ts';
import { type BackoffPolicy, type Clock, type IntegrationPolicy, type Random, presets } from '../../src/policy/face.ts';

/** Settings of a call, complete; times in ms. */
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

const seconds = number({ min: Number.MIN_VALUE, expected: 'a number of seconds above 0' });
const share = number({ max: 1 });

const retryKeys = {
  /** Attempts in all, the first included, at least 1. @defaultValue `CLAUDE_MAX_RETRIES`, else that of the preset `claudeCli`, 5 */
  maxRetries: integer(),
  /** The first wait, above 0; each further one is twice as long. @defaultValue `CLAUDE_BASE_DELAY`, else that of the preset, 2 */
  baseDelay: seconds,
  /** The longest wait, jitter included, above 0. @defaultValue `CLAUDE_MAX_DELAY`, else that of the preset, 120 */
  maxDelay: seconds,
  /** Waits are spread by ± this factor, 0 to 1. @defaultValue `CLAUDE_JITTER_FACTOR`, else that of the preset, 0.2 */
  jitterFactor: share,
};

/** Options of the new tries of a call of Claude; times in seconds. */
export interface ClaudeRetry extends Given<typeof retryKeys> {}

const sharedKeys = {
  /** The model, as `claude --model` takes it. @defaultValue what Claude is configured for */
  model: text(),
  /** Takes the place of Claude's own. */
  systemPrompt: text(),
  /** Longest answer, in tokens, at least 1. @defaultValue 4096 */
  maxTokens: integer(),
  /** Limit on each attempt, in seconds, above 0. @defaultValue that of the preset `claudeCli`, 300 */
  timeout: seconds,
  /** Options of the new tries of failed attempts. @defaultValue 5 attempts in all, after 2 s and twice as long each time, up to 120 s */
  retry: section(retryKeys, { given: {} as ClaudeRetry, default: {} }),
  /** Directory in which `claude_invocations.jsonl` is written. @defaultValue `CLAUDE_LOG_DIR`, else `.logs` in the working directory */
  logDir: text(),
};

const callKeys = {
  ...sharedKeys,
  /** Ends the call when aborted. */
  signal,
};

/** Options that may differ from call to call. */
export interface ClaudeCallOptions extends Given<typeof callKeys> {}

const ownClaudeKeys = {
  /** Path, or name to look up on the PATH. @defaultValue 'claude' */
  command: text(programForm),
  /** Come before those of each call. @defaultValue [] */
  args: list(text({ empty: true }), { expected: 'an array of strings' }),
  /** Directory in which `claude` is started. @defaultValue the working directory of the process */
  cwd: anything as Key<string | undefined>,
  /** Adds to the environment of this process. @defaultValue {} */
  env: anything as Key<Readonly<Record<string, string | undefined>> | undefined>,
  /** Logs calls. @defaultValue true */
  log: boolean(),
  /** The gateway under which calls are supervised; the caller starts and stops it. @defaultValue one of its own */
  gateway: having<Gateway>('a gateway', ['subprocess']),
  /** Name of the integration in the gateway. @defaultValue 'claude' */
  name: anything as Key<string | undefined>,
  /** Source of time and timers. @defaultValue the system's */
  clock: anything as Key<Clock | undefined>,
  /** A source of chance in [0, 1). @defaultValue Math.random */
  random: anything as Key<Random | undefined>,
  /** Hears what its own gateway has to say, and that a line of the log could not be written. @defaultValue false: silence */
  logger: anything as Key<HostLogger | false | undefined>,
};

const claudeKeys = { ...sharedKeys, ...ownClaudeKeys };

/** Options of Claude, and the defaults of its calls. */
export interface ClaudeOptions extends Omit<ClaudeCallOptions, 'signal'>, Given<typeof ownClaudeKeys> {}

/**
 * The defaults of calls: what the options say, else the environment, else the policy of the integration.
 * @throws TypeError or RangeError that names the option or the variable, and its value.
 */
export function checkClaudeOptions(
  options: ClaudeOptions,
  environment: Environment,
  { retry: usual, limits }: Pick<IntegrationPolicy, 'retry' | 'limits'> = presets.claudeCli,
): ClaudeCall {
  const { model, systemPrompt, maxTokens, timeout, retry, logDir } = readGiven('options', options, claudeKeys);
  const jitter = readValue('CLAUDE_JITTER_FACTOR', variable(environment, 'CLAUDE_JITTER_FACTOR'), share);
  const call: ClaudeCall = {
    model: undefined,
    systemPrompt: undefined,
    maxTokens: 4096,
    timeoutMs: limits.attemptMs,
    maxAttempts:
      readValue('CLAUDE_MAX_RETRIES', variable(environment, 'CLAUDE_MAX_RETRIES'), integer()) ?? usual.maxAttempts,
    backoff: backoffWith(usual.backoff, {
      initialMs: secondsIn(environment, 'CLAUDE_BASE_DELAY'),
      maxMs: secondsIn(environment, 'CLAUDE_MAX_DELAY'),
      jitter,
    }),
    logDir: given(environment, 'CLAUDE_LOG_DIR') ?? '.logs',
    signal: undefined,
  };
  return checkClaudeCall({ model, systemPrompt, maxTokens, timeout, retry, logDir }, call);
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkClaudeCall(options: ClaudeCallOptions, base: ClaudeCall): ClaudeCall {
  const { timeout, retry, ...given } = readOptions('options', options, callKeys);
  const { maxRetries, baseDelay, maxDelay, jitterFactor } = retry;
  return {
    ...base,
    ...given,
    timeoutMs: inMs(timeout) ?? base.timeoutMs,
    maxAttempts: maxRetries ?? base.maxAttempts,
    backoff: backoffWith(base.backoff, {
      initialMs: inMs(baseDelay),
      maxMs: inMs(maxDelay),
      jitter: jitterFactor,
    }),
  };
}

type Exponential = Extract<BackoffPolicy, { kind: 'exponential' }>;

interface OwnWaits {
  readonly initialMs: number | undefined;
  readonly maxMs: number | undefined;
  readonly jitter: number | undefined;
}

/** Waits that grow as before, but for what is said of them here; said so, they double from a first one. */
function backoffWith(usual: BackoffPolicy, { initialMs, maxMs, jitter: factor }: OwnWaits): BackoffPolicy {
  const jitter = factor === undefined ? usual.jitter : ({ kind: 'factor', factor } as const);
  if (initialMs === undefined && maxMs === undefined) return { ...usual, jitter };
  const from = usual.kind === 'exponential' ? usual : (presets.claudeCli.retry.backoff as Exponential);
  return { ...from, initialMs: initialMs ?? from.initialMs, maxMs: maxMs ?? from.maxMs, jitter };
}

/** Reads one; one that is set to nothing counts as not set. */
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
  return inMs(readValue(name, variable(environment, name), seconds));
}

const inMs = (given: number | undefined): number | undefined => (given === undefined ? undefined : given * 1000);
